package cluster

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"capstore/internal/fault"
	"capstore/internal/pg"
)

func start(t *testing.T, dir string) *Cluster {
	t.Helper()
	c, err := Start(t.Context(), Options{Dir: dir, Roots: roots})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Stop)
	return c
}

func query(t *testing.T, c *Cluster, sql string) (s string) {
	t.Helper()
	db, err := pg.Open(t.Context(), pg.Config{URL: c.URL()})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow(t.Context(), sql).Scan(&s); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDataOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	c := start(t, dir)
	query(t, c, `select lo_from_bytea(4242, 'kept')::text`)
	if got := query(t, c, `select string_agg(setting, ' ') from pg_settings where name in ('fsync', 'full_page_writes', 'synchronous_commit')`); got != "on on on" {
		t.Errorf("kept data runs with fsync, full_page_writes, synchronous_commit %s", got)
	}
	c.Stop()
	c.Stop()
	if got := query(t, start(t, dir), `select convert_from(lo_get(4242), 'UTF8')`); got != "kept" {
		t.Errorf("read %q", got)
	}
}

func TestLettersOfEveryScriptAreKnown(t *testing.T) {
	t.Parallel()
	c := start(t, dataDir(t))
	if got := query(t, c, `select (lower('ÉÀ') || ' ' || ('가나' ~ '^\w+$') || ' ' || ('Z' < 'a'))`); got != "éà true true" {
		t.Errorf("got %q, want Unicode letters in byte order", got)
	}
}

// nameless is the account where root finds no user postgres: a number that no
// user has. Anyone else can only be himself.
func nameless() account {
	if as := databaseAccount(); !as.switched {
		return as
	}
	return account{uid: nobodyID, gid: nobodyID, name: "uid 65532", switched: true}
}

// installed is the best PostgreSQL as the account can run it.
func installed(t *testing.T, as account) Installation {
	t.Helper()
	in, err := pick(Installations(roots...), 0)
	if err == nil {
		in, err = in.within(as)
	}
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func TestAUserWithoutAName(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	s := site{as: nameless(), data: filepath.Join(dir, dataFolder)}
	s.in = installed(t, s.as)
	if err := s.make(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := start(t, dir) // finds the owner by itself
	if got := query(t, c, `select current_database()::text`); got != database {
		t.Errorf("connected to %q", got)
	}
	if c.site.as.uid != s.as.uid {
		t.Errorf("runs as %s, want %s", c.site.as.name, s.as.name)
	}
	if st, err := os.Stat(filepath.Join(dir, dataFolder)); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("the folder is %v, %v", st.Mode(), err)
	}
}

func TestOddFolders(t *testing.T) {
	t.Parallel()
	for name, sub := range map[string]string{
		"spaces":    "my data/cap store",
		"long":      strings.Repeat("long/", 30),
		"separator": `a,b'c"d`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(emptyDir(t), sub)
			if err := os.MkdirAll(dir, 0o711); err != nil {
				t.Fatal(err)
			}
			fill(t, dir)
			c := start(t, dir)
			if got := query(t, c, `select current_database()::text`); got != database {
				t.Errorf("connected to %q", got)
			}
		})
	}
}

func TestOneHolderAtATime(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	server := startChild(t, dir)
	server.acknowledged(t, 1)
	_, err := Start(t.Context(), Options{Dir: dir, Roots: roots})
	if !fault.HasCode(err, "data_folder_held") || !strings.Contains(err.Error(), fmt.Sprintf("process %d (capstore serve)", server.cmd.Process.Pid)) {
		t.Errorf("second server: %v, want a fault that names the first", err)
	}
	server.acknowledged(t, 1) // unharmed

	command, err := Attach(t.Context(), Options{Dir: dir, Roots: roots, Role: "token create"})
	if err != nil {
		t.Fatal(err)
	}
	if !command.Joined() {
		t.Error("a command beside a server should use the server's database")
	}
	query(t, command, `select max(n)::text from acknowledged`)
	command.Stop()
	server.acknowledged(t, 1)
}

func TestACommandAloneStartsTheDatabase(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	command, err := Attach(t.Context(), Options{Dir: dir, Roots: roots, Role: "token create"})
	if err != nil {
		t.Fatal(err)
	}
	query(t, command, `select 'x'`)
	began := make(chan error, 1)
	go func() { // a server that is started meanwhile waits for it
		c, err := Start(t.Context(), Options{Dir: dir, Roots: roots})
		if err == nil {
			c.Stop()
		}
		began <- err
	}()
	command.Stop()
	if err := <-began; err != nil {
		t.Errorf("the waiting server: %v", err)
	}
}

func TestWaitingForACommandEndsWithTheContext(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	command, err := Attach(t.Context(), Options{Dir: dir, Roots: roots, Role: "backup"})
	if err != nil {
		t.Fatal(err)
	}
	defer command.Stop()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Start(ctx, Options{Dir: dir, Roots: roots}); !fault.HasCode(err, "data_folder_held") {
		t.Errorf("Start = %v", err)
	}
}

func TestAKilledServerLosesNothing(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	last := "0"
	for round := range 3 {
		server := startChild(t, dir)
		last = server.acknowledged(t, 50)
		last = cmp.Or(server.kill(t), last)
		// The next child starts while the orphaned database may still run.
		if round == 2 {
			continue
		}
		c := start(t, dir)
		if got := query(t, c, `select (max(n) >= `+last+`)::text from acknowledged`); got != "true" {
			t.Errorf("row %s was confirmed and is lost", last)
		}
		c.Stop()
	}
	if got := query(t, start(t, dir), `select (max(n) >= `+last+`)::text from acknowledged`); got != "true" {
		t.Errorf("row %s was confirmed and is lost", last)
	}
}

func TestTheDatabaseEndsWithItsServer(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	server := startChild(t, dir)
	server.acknowledged(t, 1)
	f, err := readPIDFile(filepath.Join(dir, dataFolder))
	if err != nil {
		t.Fatal(err)
	}
	server.kill(t)
	gone(t, f.pid)
}

// gone waits until the process has ended.
func gone(t *testing.T, pid int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for alive(pid) {
		select {
		case <-ctx.Done():
			t.Fatalf("process %d still runs", pid)
		case <-time.After(poll):
		}
	}
}

func TestAKilledDatabaseComesBack(t *testing.T) {
	t.Parallel()
	c := start(t, dataDir(t))
	db, err := pg.Open(t.Context(), pg.Config{URL: c.URL()})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	f, err := readPIDFile(c.site.data)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(f.pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	gone(t, f.pid)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for { // the same pool, without any help
		err := db.Reachable(ctx)
		if err == nil {
			return
		}
		if !fault.HasCode(err, "database_unavailable") {
			t.Fatalf("meanwhile: %v", err)
		}
		select {
		case <-ctx.Done():
			t.Fatal("the database stays away")
		case <-time.After(poll):
		}
	}
}

func TestLeftoversOfACrash(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(t *testing.T, dir string){
		"a pid that is another process's now": func(t *testing.T, dir string) {
			fill(t, dir)
			start(t, dir).Stop()
			body := fmt.Sprintf("%d\n%s\n1\n5432\n/x\n\n\nready\n", os.Getpid(), filepath.Join(dir, dataFolder))
			write(t, filepath.Join(dir, dataFolder, "postmaster.pid"), body)
			if err := databaseAccount().own(filepath.Join(dir, "run")); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, "run", ".s.PGSQL.5432.lock"), body)
		},
		"a pid of nobody": func(t *testing.T, dir string) {
			fill(t, dir)
			write(t, filepath.Join(dir, dataFolder, "postmaster.pid"), "4194300\n/x\n1\n5432\n/x\n\n\nready\n")
		},
		"a folder that was being made": func(t *testing.T, dir string) {
			if err := os.Mkdir(filepath.Join(dir, dataFolder+".new"), 0o700); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, dataFolder+".new", "PG_VERSION"), "15\n")
		},
		"a torn lock file": func(t *testing.T, dir string) {
			fill(t, dir)
			write(t, filepath.Join(dir, lockFile), `{"pi`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := emptyDir(t)
			leave(t, dir)
			query(t, start(t, dir), `select 'x'`)
		})
	}
}

// write makes a file as the database's user would have.
func write(t *testing.T, path, body string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	if as := databaseAccount(); as.switched {
		if err := os.Chown(path, as.uid, as.gid); err != nil {
			t.Fatal(err)
		}
	}
}
