package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"capstore/cmd/capstore/app"
	"capstore/internal/pg"
	"capstore/internal/pg/cluster"
)

func (e *examination) database(ctx context.Context) {
	e.area = "Database"
	if e.cfg.DatabaseURL == "" && !e.embedded() {
		return
	}
	store, err := app.OpenStore(ctx, e.cfg, "doctor", e.log)
	if err != nil {
		e.failed("connection", err)
		return
	}
	defer store.Close()
	e.joined = store.Cluster != nil && store.Cluster.Joined()
	if err := e.postgres(ctx, store); err != nil {
		e.failed("connection", err)
		return
	}
	if e.schema(ctx, store.DB) {
		e.secrets(ctx, store.DB)
	}
}

// embedded reports whether there is a database in the data folder to look at.
func (e *examination) embedded() bool {
	dir, err := e.cfg.DataDir()
	if err != nil {
		return false // said with the folder
	}
	present, err := cluster.Present(dir)
	if err != nil {
		e.add(Wrong, "connection", err.Error(), "Run this as the user that runs the server.")
		return false
	}
	if present {
		return true
	}
	found := cluster.Installations(app.Roots()...)
	if len(found) == 0 {
		e.add(Wrong, "connection", "There is no PostgreSQL 15 or newer on this machine.",
			"Install one (Debian: sudo apt-get install -y postgresql), or set CAPSTORE_DATABASE_URL.")
		return false
	}
	e.add(Notice, "connection", fmt.Sprintf("There is no database yet. PostgreSQL %s of %s would run it.", found[0].Version, found[0].Bin),
		"The first start makes it.")
	return false
}

// postgres says what PostgreSQL it is and whether it keeps what it
// acknowledged when the machine goes down.
func (e *examination) postgres(ctx context.Context, store *app.Store) error {
	var version, encoding, fsync, pages, commit string
	err := store.DB.QueryRow(ctx, `SELECT current_setting('server_version'), current_setting('server_encoding'),
		current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit')`).
		Scan(&version, &encoding, &fsync, &pages, &commit)
	if err != nil {
		return pg.Fault(err)
	}
	where := "the embedded one, started for this look"
	switch {
	case store.Cluster == nil:
		where = "an outside one"
	case e.joined:
		where = "the embedded one of the running server"
	}
	e.add(OK, "connection", fmt.Sprintf("PostgreSQL %s answers: %s.", version, where), "")
	if encoding != "UTF8" {
		e.add(Wrong, "encoding", "The database keeps text as "+encoding+".", "Make a database with ENCODING 'UTF8'.")
	}
	if fsync != "on" || pages != "on" || commit == "off" {
		e.add(Wrong, "durability", fmt.Sprintf("fsync is %s, full_page_writes %s, synchronous_commit %s: a crash can lose what was acknowledged.", fsync, pages, commit),
			"Set all three to on in PostgreSQL's configuration.")
		return nil
	}
	e.add(OK, "durability", "What is acknowledged survives a crash (fsync, full_page_writes and synchronous_commit are on).", "")
	return nil
}

// schema reports whether the tables are this version's.
func (e *examination) schema(ctx context.Context, db *pg.DB) bool {
	have, known, err := db.SchemaVersion(ctx)
	switch {
	case err != nil:
		e.failed("schema", err)
	case have == known:
		e.add(OK, "schema", fmt.Sprintf("Version %d, which is this binary's.", have), "")
		return true
	case have > known:
		e.add(Wrong, "schema", fmt.Sprintf("Version %d is of a newer capstore; this one knows %d.", have, known), "Run the newer capstore.")
	case have == 0:
		e.add(Notice, "schema", "The database is empty.", "The first start makes the tables.")
	default:
		e.add(Notice, "schema", fmt.Sprintf("Version %d; this binary brings it to %d.", have, known),
			"Back the database up; then start this version, or run capstore migrate.")
	}
	return false
}

// secrets proves the key on what is stored. Opening would make a key where
// there is none, so it is not opened then.
func (e *examination) secrets(ctx context.Context, db *pg.DB) {
	var stored int
	if err := db.QueryRow(ctx, "SELECT count(*) FROM secrets").Scan(&stored); err != nil {
		e.failed("secrets", pg.Fault(err))
		return
	}
	if stored == 0 && e.cfg.SecretKey == "" && !e.hasKeyFile() {
		return
	}
	if _, err := app.OpenSecrets(ctx, e.cfg, db); err != nil {
		e.failed("secrets", err)
		return
	}
	if stored > 0 {
		e.add(OK, "secrets", fmt.Sprintf("The key opens the stored secrets (%d).", stored), "")
	}
}

func (e *examination) hasKeyFile() bool {
	dir, err := e.cfg.DataDir()
	if err != nil {
		return false
	}
	_, err = os.Stat(filepath.Join(dir, app.KeyFile))
	return !errors.Is(err, fs.ErrNotExist)
}
