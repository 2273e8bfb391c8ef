// Package pgtest gives every test a private, migrated database on a real
// PostgreSQL.
package pgtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/internal/fault"
	"capstore/internal/pg"
	"capstore/internal/pg/cluster"
	"capstore/migrations"
)

// urlVariable names a server to use instead of a throw-away one. Its role
// must be allowed to create databases.
const urlVariable = "CAPSTORE_TEST_DATABASE_URL"

// New returns a migrated database that nothing else uses, closed and dropped
// when the test ends. Tests that use it may run in parallel. Without a
// PostgreSQL the test fails and names the command that installs one.
func New(t testing.TB) *pg.DB {
	t.Helper()
	return open(t, URL(t))
}

// URL is New for tests that open the database by its address themselves,
// such as those that start the whole server.
func URL(t testing.TB) string {
	t.Helper()
	s := sharedServer(t)
	template, err := s.template()
	if err != nil {
		t.Fatalf("pgtest: build the template database: %v", err)
	}
	return s.create(t, "template "+template+" strategy file_copy")
}

// Empty returns a database without any schema, for tests of migrations.
func Empty(t testing.TB) *pg.DB {
	t.Helper()
	return open(t, EmptyURL(t))
}

// EmptyURL is Empty by its address.
func EmptyURL(t testing.TB) string {
	t.Helper()
	return sharedServer(t).create(t, "template template0")
}

func open(t testing.TB, address string) *pg.DB {
	t.Helper()
	db, err := pg.Open(t.Context(), pg.Config{URL: address, ApplicationName: "capstore-test"})
	if err != nil {
		t.Fatalf("pgtest: open: %v", err)
	}
	t.Cleanup(db.Close)
	return db
}

// server is the PostgreSQL that all tests of this process share.
type server struct {
	address  func(database string) string
	template func() (string, error)
}

var shared = sync.OnceValues(func() (*server, error) {
	if u := os.Getenv(urlVariable); u != "" {
		return newServer(outside(u)), nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	c, err := cluster.StartThrowaway(ctx, moduleRoot())
	if err != nil {
		return nil, err
	}
	return newServer(c.URL), nil
})

func sharedServer(t testing.TB) *server {
	t.Helper()
	s, err := shared()
	if err != nil {
		f := fault.From(err)
		t.Fatalf("pgtest: %s %s (%v)", f.Message, f.Action, err)
	}
	return s
}

func newServer(address func(database string) string) *server {
	s := &server{address: address}
	s.template = sync.OnceValues(s.buildTemplate)
	return s
}

// outside puts a database's name into the address of the given server.
func outside(address string) func(string) string {
	return func(database string) string {
		u, err := url.Parse(address)
		if err != nil || u.Scheme == "" {
			return address + " dbname=" + database
		}
		u.Path = "/" + database
		return u.String()
	}
}

// moduleRoot is the nearest folder upwards that holds go.mod: go test runs in
// the package's folder.
func moduleRoot() string {
	dir, err := os.Getwd()
	if err != nil {
		return "."
	}
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(filepath.Join(d, "go.mod")); err == nil {
			return d
		}
		if d == filepath.Dir(d) {
			return dir
		}
	}
}

// admin runs fn on a connection to the maintenance database.
func (s *server) admin(fn func(ctx context.Context, conn *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.address("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	return fn(ctx, conn)
}

// create makes a database and drops it when the test ends.
func (s *server) create(t testing.TB, how string) string {
	t.Helper()
	name := "capstore_test_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	err := s.admin(func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "create database "+name+" "+how)
		return err
	})
	if err != nil {
		t.Fatalf("pgtest: create database: %v", err)
	}
	t.Cleanup(func() {
		err := s.admin(func(ctx context.Context, conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, "drop database "+name+" with (force)")
			return err
		})
		if err != nil {
			t.Errorf("pgtest: drop database: %v", err)
		}
	})
	return s.address(name)
}

// buildTemplate returns the name of a migrated database that tests copy. The
// name is a hash of the migrations, so a changed one never meets an old
// template, and a lock keeps two test processes from building it at once.
func (s *server) buildTemplate() (string, error) {
	sum, err := hashMigrations()
	if err != nil {
		return "", err
	}
	name := "capstore_template_" + sum
	err = s.admin(func(ctx context.Context, conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, "select pg_advisory_lock(hashtext($1))", name); err != nil {
			return err
		}
		var exists bool
		if err := conn.QueryRow(ctx, "select exists (select from pg_database where datname = $1)", name).Scan(&exists); err != nil || exists {
			return err
		}
		return s.migrateAs(ctx, conn, name)
	})
	return name, err
}

// migrateAs builds the template under another name first, so that one with
// the final name is always whole.
func (s *server) migrateAs(ctx context.Context, conn *pgx.Conn, name string) error {
	building := name + "_building"
	for _, sql := range []string{"drop database if exists " + building + " with (force)", "create database " + building + " template template0"} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	db, err := pg.Open(ctx, pg.Config{URL: s.address(building), ApplicationName: "capstore-test"})
	if err != nil {
		return err
	}
	err = db.Migrate(ctx)
	db.Close()
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "alter database "+building+" rename to "+name)
	return err
}

func hashMigrations() (string, error) {
	h := sha256.New()
	err := fs.WalkDir(migrations.FS, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(migrations.FS, path)
		fmt.Fprintf(h, "%s %d\n", path, len(body))
		h.Write(body)
		return err
	})
	return hex.EncodeToString(h.Sum(nil))[:16], err
}
