package doctor_test

import (
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/cmd/capstore/app"
	"capstore/cmd/capstore/doctor"
	"capstore/internal/pg"
	"capstore/internal/pg/pgtest"
)

// TestMain runs the tests in the top of the module, as people run doctor: its
// npm packages may hold the only PostgreSQL.
func TestMain(m *testing.M) {
	if err := os.Chdir("../../.."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// config is that of a server that would work, over a database of its own.
func config(t *testing.T) app.Config {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() // free again
	return app.Config{Addr: listener.Addr().String(), Data: t.TempDir(), DatabaseURL: pgtest.URL(t)}
}

func examine(t *testing.T, cfg app.Config) doctor.Report {
	t.Helper()
	return doctor.Examine(t.Context(), cfg, doctor.Member{}, slog.New(slog.DiscardHandler))
}

// find returns the finding of the name.
func find(t *testing.T, r doctor.Report, area, name string) doctor.Finding {
	t.Helper()
	for _, f := range r.Findings {
		if f.Area == area && f.Name == name {
			return f
		}
	}
	t.Fatalf("nothing is said of %s, %s: %+v", area, name, r.Findings)
	return doctor.Finding{}
}

// wrong names what is wrong, but for the durability: the tests' databases may
// lose everything in a crash.
func wrong(r doctor.Report) string {
	var names []string
	for _, f := range r.Findings {
		if f.State == doctor.Wrong && f.Name != "durability" {
			names = append(names, f.Name+": "+f.Text)
		}
	}
	return strings.Join(names, "\n")
}

func TestHealthy(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	if _, err := app.OpenSecrets(t.Context(), cfg, open(t, cfg.DatabaseURL)); err != nil {
		t.Fatal(err)
	}
	report := examine(t, cfg)
	for _, want := range [][2]string{
		{"Configuration", "address"}, {"Data folder", "folder"}, {"Data folder", "key"},
		{"Database", "connection"}, {"Database", "schema"}, {"Front end", "assets"}, {"Server", "readiness"},
	} {
		if f := find(t, report, want[0], want[1]); f.State != doctor.OK {
			t.Errorf("%+v", f)
		}
	}
	if wrong := wrong(report); wrong != "" {
		t.Error(wrong)
	}
}

// TestWhatIsWrong spoils one thing each and expects a line that says what and
// what to do.
func TestWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		spoil func(t *testing.T, cfg *app.Config)
		area  string
		line  string
		state doctor.State
		says  string
		do    string
	}{
		{"no address", func(_ *testing.T, c *app.Config) { c.Addr = "8080" }, "Configuration", "settings", doctor.Wrong, "--addr", "Correct"},
		{"open to the network", func(_ *testing.T, c *app.Config) { c.Addr = "0.0.0.0:" + port(c.Addr) }, "Configuration", "address", doctor.Notice, "in the clear", "TLS"},
		{"proxy without a name", func(_ *testing.T, c *app.Config) { c.TrustProxy = true }, "Configuration", "proxy", doctor.Notice, "X-Forwarded-For", "--base-url"},
		{"private hosts", func(_ *testing.T, c *app.Config) { c.AllowHosts = []string{"10.0.0.0/8"} }, "Configuration", "allow-hosts", doctor.Notice, "1 private", ""},
		{"no folder yet", func(_ *testing.T, c *app.Config) { c.Data = filepath.Join(c.Data, "none") }, "Data folder", "folder", doctor.Notice, "not there yet", "first start"},
		{"a file for a folder", func(t *testing.T, c *app.Config) { c.Data = write(t, filepath.Join(c.Data, "file"), "", 0o600) }, "Data folder", "folder", doctor.Wrong, "not a folder", "--data"},
		{"key open to others", func(t *testing.T, c *app.Config) { write(t, filepath.Join(c.Data, app.KeyFile), "key", 0o644) }, "Data folder", "key", doctor.Wrong, "0644", "chmod 600"},
		{"no key in the file", func(t *testing.T, c *app.Config) { write(t, filepath.Join(c.Data, app.KeyFile), "key", 0o600) }, "Database", "secrets", doctor.Wrong, "key", ""},
		{"no such database", func(_ *testing.T, c *app.Config) { c.DatabaseURL = "postgres://127.0.0.1:1/none" }, "Database", "connection", doctor.Wrong, "refused", ""},
		{"no database yet", func(_ *testing.T, c *app.Config) { c.DatabaseURL = "" }, "Database", "connection", doctor.Notice, "PostgreSQL", "first start"},
		{"empty database", func(t *testing.T, c *app.Config) { c.DatabaseURL = pgtest.EmptyURL(t) }, "Database", "schema", doctor.Notice, "empty", "first start"},
		{"newer schema", newer, "Database", "schema", doctor.Wrong, "newer", "newer capstore"},
		{"another program on the port", func(t *testing.T, c *app.Config) { c.Addr = other(t, http.NotFoundHandler()) }, "Server", "readiness", doctor.Wrong, "no capstore", "--addr"},
		{"a server that is not ready", func(t *testing.T, c *app.Config) { c.Addr = other(t, unready) }, "Server", "readiness", doctor.Wrong, "the reason", "log"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			cfg := config(t)
			tc.spoil(t, &cfg)
			report := examine(t, cfg)
			f := find(t, report, tc.area, tc.line)
			if f.State != tc.state || !strings.Contains(f.Text, tc.says) || !strings.Contains(f.Action, tc.do) {
				t.Errorf("%+v, want %s that says %q and to do %q", f, tc.state, tc.says, tc.do)
			}
			if wrong := wrong(report); (wrong != "") != (tc.state == doctor.Wrong) {
				t.Errorf("wrong are: %q", wrong)
			}
		})
	}
}

// TestDurabilityIsAskedFor looks at a database that may lose everything, as
// those of the tests may.
func TestDurabilityIsAskedFor(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	if _, err := open(t, cfg.DatabaseURL).Exec(t.Context(), `DO $$ BEGIN
		EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', current_database()); END $$`); err != nil {
		t.Fatal(err)
	}
	report := examine(t, cfg)
	if f := find(t, report, "Database", "durability"); f.State != doctor.Wrong || !strings.Contains(f.Text, "synchronous_commit off") || report.OK {
		t.Errorf("%+v, OK %t", f, report.OK)
	}
}

// TestNothingIsMade looks at a machine that has nothing yet.
func TestNothingIsMade(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	cfg := config(t)
	cfg.Data, cfg.DatabaseURL = dir, ""
	if report := examine(t, cfg); !report.OK {
		t.Errorf("not OK: %+v", report.Findings)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the data folder was made (%v)", err)
	}
}

// TestWithoutSandbox holds that code tools are no essential part.
func TestWithoutSandbox(t *testing.T) {
	cfg := config(t)
	t.Setenv("PATH", t.TempDir())
	report := examine(t, cfg)
	f := find(t, report, "Sandbox", "bubblewrap")
	if f.State != doctor.Notice || !strings.Contains(f.Text, "code tools do not run") || !strings.Contains(f.Action, "bubblewrap") {
		t.Errorf("%+v", f)
	}
	if wrong := wrong(report); wrong != "" {
		t.Error(wrong)
	}
}

func TestPrint(t *testing.T) {
	t.Parallel()
	report := doctor.Report{Findings: []doctor.Finding{
		{Area: "Database", Name: "connection", State: doctor.OK, Text: "It answers."},
		{Area: "Database", Name: "schema", State: doctor.Wrong, Text: "It is newer.", Action: "Run the newer one."},
		{Area: "Server", Name: "readiness", State: doctor.Notice, Text: "None runs."},
	}}
	var got strings.Builder
	report.Print(&got)
	want := `
Database
  ok      connection        It answers.
  wrong   schema            It is newer.
                            -> Run the newer one.

Server
  notice  readiness         None runs.

Something essential is wrong: see above.
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Error(diff)
	}
}

func newer(t *testing.T, c *app.Config) {
	if _, err := open(t, c.DatabaseURL).Exec(t.Context(), "UPDATE goose_db_version SET version_id = version_id + 1 WHERE version_id > 0"); err != nil {
		t.Fatal(err)
	}
}

var unready = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "the reason", http.StatusServiceUnavailable)
})

func other(t *testing.T, h http.Handler) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

func port(addr string) string { return addr[strings.LastIndex(addr, ":")+1:] }

func write(t *testing.T, path, text string, mode os.FileMode) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t *testing.T, url string) *pg.DB {
	t.Helper()
	db, err := pg.Open(t.Context(), pg.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}
