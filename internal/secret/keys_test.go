package secret_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"capstore/internal/secret"
)

func (v *vault) reopen(t *testing.T, cfg secret.Config) (*secret.Service, error) {
	t.Helper()
	return secret.Open(t.Context(), v.db, cfg)
}

func TestKeyFileIsPrivateAndKept(t *testing.T) {
	t.Parallel()
	v := build(t)
	info, err := os.Stat(v.keyFile)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v", info.Mode(), err)
	}
	v.set(t, v.member, "KEY", canary)
	if got, _ := reveal(t, t.Context(), v.open(t), v.member, "KEY"); got["KEY"] != canary {
		t.Errorf("after a restart: %q", got)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(v.keyFile), ".key-*")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestKeyFileTrouble(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(path string) error
		code  string
	}{
		"open to the group": {func(p string) error { return os.Chmod(p, 0o640) }, "secret_key_exposed"},
		"open to all":       {func(p string) error { return os.Chmod(p, 0o604) }, "secret_key_exposed"},
		"gone":              {os.Remove, "secret_key_missing"},
		"empty":             {func(p string) error { return os.Truncate(p, 0) }, "secret_key_malformed"},
		"something else":    {func(p string) error { return os.WriteFile(p, []byte("hunter2"), 0o600) }, "secret_key_malformed"},
		"a folder": {func(p string) error {
			if err := os.Remove(p); err != nil {
				return err
			}
			return os.Mkdir(p, 0o700)
		}, "secret_key_unreadable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := build(t)
			v.set(t, v.member, "KEY", canary)
			if err := c.spoil(v.keyFile); err != nil {
				t.Fatal(err)
			}
			_, err := v.reopen(t, secret.Config{KeyFile: v.keyFile})
			wantCode(t, err, c.code)
			if c.code == "secret_key_missing" {
				if _, err := os.Stat(v.keyFile); !os.IsNotExist(err) {
					t.Error("a new key took the lost one's place")
				}
			}
		})
	}
}

func TestAnotherKeyIsRefusedAtStart(t *testing.T) {
	t.Parallel()
	v, w := build(t), build(t)
	v.set(t, v.member, "KEY", canary)
	_, err := v.reopen(t, secret.Config{KeyFile: w.keyFile})
	wantCode(t, err, "secret_key_wrong")
}

func TestKeyFromTheEnvironment(t *testing.T) {
	t.Parallel()
	v := build(t)
	v.set(t, v.member, "KEY", canary)
	text, err := os.ReadFile(v.keyFile)
	if err != nil {
		t.Fatal(err)
	}
	s, err := v.reopen(t, secret.Config{Key: string(text), KeyFile: filepath.Join(t.TempDir(), "unused")})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := reveal(t, t.Context(), s, v.member, "KEY"); got["KEY"] != canary {
		t.Errorf("got %q", got)
	}
	_, err = s.Rotate(t.Context())
	wantCode(t, err, "secret_key_in_environment")
	_, err = v.reopen(t, secret.Config{Key: "c2VjcmV0LWtleQ=="})
	wantCode(t, err, "secret_key_malformed")
	if strings.Contains(err.Error(), "c2VjcmV0") {
		t.Error("the fault tells the key")
	}
}

func TestServersStartingAtOnceShareAKey(t *testing.T) {
	t.Parallel()
	v := build(t)
	path := filepath.Join(t.TempDir(), "new", "secret.key")
	services := make([]*secret.Service, 6)
	var wg sync.WaitGroup
	for i := range services {
		wg.Go(func() {
			var err error
			if services[i], err = v.reopen(t, secret.Config{KeyFile: path}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	v.secrets = services[0]
	v.set(t, v.member, "KEY", canary)
	for _, s := range services {
		if got, _ := reveal(t, t.Context(), s, v.member, "KEY"); got["KEY"] != canary {
			t.Errorf("got %q", got)
		}
	}
}

func TestRotation(t *testing.T) {
	t.Parallel()
	v := build(t)
	for i := range 5 {
		v.set(t, v.member, fmt.Sprintf("KEY_%d", i), canary)
	}
	v.setOwn(t, v.viewer, "KEY_0", "own")
	before, err := os.ReadFile(v.keyFile)
	if err != nil {
		t.Fatal(err)
	}
	n, err := v.open(t).Rotate(t.Context()) // as the command line does beside a server
	if err != nil || n != 6 {
		t.Fatalf("rotated %d, %v", n, err)
	}
	// The running server follows, for reading and for writing.
	if got, _ := reveal(t, t.Context(), v.secrets, v.viewer, "KEY_0", "KEY_4"); got["KEY_0"] != "own" || got["KEY_4"] != canary {
		t.Errorf("got %q", got)
	}
	v.set(t, v.member, "KEY_5", "after")
	if got, _ := reveal(t, t.Context(), v.open(t), v.member, "KEY_5"); got["KEY_5"] != "after" {
		t.Errorf("got %q", got)
	}
	if info, err := os.Stat(v.keyFile); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	// The old key opens nothing any more.
	_, err = v.reopen(t, secret.Config{Key: string(before)})
	wantCode(t, err, "secret_key_wrong")
}

// The server that never read since the rotation writes under the new key.
func TestWriterFollowsARotation(t *testing.T) {
	t.Parallel()
	v := build(t)
	if _, err := v.open(t).Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	v.set(t, v.member, "KEY", canary)
	if got, _ := reveal(t, t.Context(), v.open(t), v.member, "KEY"); got["KEY"] != canary {
		t.Errorf("got %q", got)
	}
}

func TestRotationsAmongWritersLoseNothing(t *testing.T) {
	t.Parallel()
	v := build(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var rotations sync.WaitGroup
	for range 2 {
		s := v.open(t)
		rotations.Go(func() {
			for range 5 {
				if _, err := s.Rotate(ctx); err != nil {
					t.Error(err)
				}
			}
		})
	}
	var writers sync.WaitGroup
	for w := range 3 {
		s := v.open(t)
		writers.Go(func() {
			for i := range 15 {
				name, want := fmt.Sprintf("KEY_%d_%d", w, i), fmt.Sprintf("value %d of %d", i, w)
				_, err := s.Set(ctx, v.member, secret.NewSecret{Name: name, Value: secret.NewValue(want)})
				if err != nil {
					t.Error(err)
				}
				got, missing, err := s.Resolve(ctx, "acme", v.member.Subject, []string{name})
				if err != nil || len(missing) != 0 || got[name].Reveal() != want {
					t.Errorf("%s: %q, %v", name, missing, err)
				}
			}
		})
	}
	writers.Wait()
	rotations.Wait()
	fresh := v.open(t)
	for w := range 3 {
		for i := range 15 {
			name, want := fmt.Sprintf("KEY_%d_%d", w, i), fmt.Sprintf("value %d of %d", i, w)
			if got, _ := reveal(t, t.Context(), fresh, v.member, name); got[name] != want {
				t.Errorf("%s is lost: %q", name, got)
			}
		}
	}
}
