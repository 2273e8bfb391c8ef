package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// actVariable makes this test program be capstore, so that a test can run, kill
// and start again the real thing.
const actVariable = "CAPSTORE_TEST_ACT"

func TestMain(m *testing.M) {
	if os.Getenv(actVariable) != "" {
		_ = os.Unsetenv(actVariable)
		os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// said is what a command left behind.
type said struct {
	Code     int
	Out, Err string
}

// command runs one command in this process.
func command(stdin string, args ...string) said {
	var out, errs bytes.Buffer
	code := run(args, strings.NewReader(stdin), &out, &errs)
	return said{code, out.String(), errs.String()}
}

// done runs a command that must work and returns what it printed.
func done(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	got := command(stdin, args...)
	if got.Code != 0 {
		t.Fatalf("capstore %s: exit code %d\n%s", strings.Join(args, " "), got.Code, got.Err)
	}
	return got.Out
}

func TestWhatIsNotUnderstood(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		args []string
		says string
	}{
		{"nothing", nil, "expected one of"},
		{"unknown command", []string{"sevre"}, "unexpected argument sevre"},
		{"unknown flag", []string{"serve", "--adress", "x"}, "unknown flag --adress"},
		{"missing flags", []string{"token", "create"}, "--email"},
		{"unknown scope", []string{"token", "create", "--email", "a@b.test", "--workspace", "w", "--scope", "all"}, "--scope must be one of"},
		{"no address", []string{"serve", "--addr", "8080"}, "--addr: \"8080\" is not HOST:PORT."},
		{"no span of time", []string{"token", "create", "--email", "a@b.test", "--workspace", "w", "--expires", "soon"}, "30d"},
		{"no life", []string{"token", "create", "--email", "a@b.test", "--workspace", "w", "--expires", "0d"}, "30d"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := command("", tc.args...)
			if got.Code != 2 || !strings.Contains(got.Err, tc.says) || !strings.Contains(got.Err, "capstore --help") || got.Out != "" {
				t.Errorf("%+v, want code 2, %q and where help is", got, tc.says)
			}
		})
	}
}

func TestHelpNamesEveryCommand(t *testing.T) {
	t.Parallel()
	help := done(t, "", "--help")
	for _, leaf := range model(t).Leaves(true) {
		if !strings.Contains(help, strings.TrimPrefix(leaf.FullPath(), "capstore ")) {
			t.Errorf("help does not name %s", leaf.FullPath())
		}
	}
}

func TestLife(t *testing.T) {
	t.Parallel()
	got := map[string]string{}
	for _, text := range []string{"30d", "12h", "90m", "0d", "d", "-1d", "1.5d", "70000d", ""} {
		var l life
		if err := l.UnmarshalText([]byte(text)); err != nil {
			got[text] = "refused"
			continue
		}
		got[text] = l.String()
	}
	want := map[string]string{
		"30d": "720h0m0s", "12h": "12h0m0s", "90m": "1h30m0s", "0d": "refused",
		"d": "refused", "-1d": "refused", "1.5d": "refused", "70000d": "refused", "": "refused",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
