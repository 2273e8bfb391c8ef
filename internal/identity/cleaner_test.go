package identity

import (
	"testing"
	"time"

	"capstore/internal/lifecycle/lifecycletest"
	"capstore/internal/pg/pgtest"
)

func TestCleanerForgetsWhatExpired(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	_, err := db.Exec(t.Context(), `INSERT INTO sessions (token, data, expiry) VALUES ('old', '', now() - interval '1 s'), ('live', '', now() + interval '1 h')`)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(t.Context(), `INSERT INTO signin_failures (key, at) VALUES ('a:old', now() - interval '16 minutes'), ('a:live', now())`)
	if err != nil {
		t.Fatal(err)
	}
	c, ticks := NewCleaner(db), make(chan time.Time)
	c.ticks = ticks
	cleaned := c.cleaned.Listen()
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer c.Stop()
	ticks <- time.Time{}
	if err := lifecycletest.Wait(t, cleaned); err != nil {
		t.Fatal(err)
	}
	var left []string
	err = db.QueryRow(t.Context(), `SELECT array_agg(x ORDER BY x) FROM (SELECT token FROM sessions UNION ALL SELECT key FROM signin_failures) s(x)`).Scan(&left)
	if err != nil || len(left) != 2 || left[0] != "a:live" || left[1] != "live" {
		t.Errorf("left %q, %v", left, err)
	}
}
