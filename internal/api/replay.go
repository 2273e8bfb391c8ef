package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/jackc/pgx/v5"

	"capstore/internal/fault"
	"capstore/internal/identity"
	"capstore/internal/pg"
)

// keyHeader is what makes a write safe to send again.
const keyHeader = "Idempotency-Key"

// claim is one request under a key. Keys are the person's own in each
// workspace.
type claim struct {
	who  identity.Principal
	key  string
	hash []byte
	keep bool // the answer may be stored
}

// requestHash is equal for two sendings of one request. Of a confidential
// body it tells nothing: a short secret could be guessed from its digest.
func requestHash(rt route, r *http.Request, body []byte) []byte {
	h := sha256.New()
	for _, part := range []string{r.Method, r.URL.EscapedPath(), r.URL.RawQuery, r.Header.Get("If-Match")} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	if !rt.Confidential {
		h.Write(body)
	}
	return h.Sum(nil)
}

// once runs a request under its key. The same request again gets the same
// answer; while the first is still running, or for another request under the
// key, a fault. A request that failed has changed nothing and frees its key.
func (a *surface) once(ctx context.Context, c claim, run func(context.Context) (answer, error)) (answer, error) {
	if !validKey(c.key) {
		return answer{}, fault.New(fault.Malformed, "bad_idempotency_key", "An %s is 1 to 255 visible ASCII characters.", keyHeader)
	}
	mine, err := a.take(ctx, c)
	if err != nil {
		return answer{}, err
	}
	if !mine {
		return a.replay(ctx, c)
	}
	out, err := run(ctx)
	// The client may be gone; what became of its request is kept all the same.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	if err != nil {
		return answer{}, errors.Join(err, a.free(ctx, c))
	}
	return out, a.keep(ctx, c, out)
}

func validKey(key string) bool {
	for _, b := range []byte(key) {
		if b <= ' ' || b > '~' {
			return false
		}
	}
	return key != "" && len(key) <= 255
}

// take claims the key, or one that was claimed by a server that died. Keys are
// forgotten after a day.
func (a *surface) take(ctx context.Context, c claim) (bool, error) {
	tag, err := a.DB.Exec(ctx, `
		WITH old AS (DELETE FROM idempotency_keys WHERE created_at < now() - interval '24 hours' AND (workspace, subject, key) <> ($1, $2, $3))
		INSERT INTO idempotency_keys AS k (workspace, subject, key, request_hash) VALUES ($1, $2, $3, $4)
		ON CONFLICT (workspace, subject, key) DO UPDATE SET created_at = now(), request_hash = $4, status = NULL, headers = '{}', body = NULL
		WHERE k.created_at < now() - interval '24 hours'
		   OR k.status IS NULL AND k.request_hash = $4 AND k.created_at < now() - interval '10 minutes'`,
		c.who.Workspace, c.who.Subject, c.key, c.hash)
	return tag.RowsAffected() == 1, pg.Fault(err)
}

func (a *surface) replay(ctx context.Context, c claim) (answer, error) {
	var out answer
	var hash, headers []byte
	var status *int
	err := a.DB.QueryRow(ctx, `SELECT request_hash, status, headers, body FROM idempotency_keys WHERE (workspace, subject, key) = ($1, $2, $3)`,
		c.who.Workspace, c.who.Subject, c.key).Scan(&hash, &status, &headers, &out.Body)
	switch {
	case errors.Is(err, pgx.ErrNoRows): // it failed just now, and freed the key
		return answer{}, stillRunning()
	case err != nil:
		return answer{}, pg.Fault(err)
	case !bytes.Equal(hash, c.hash):
		return answer{}, fault.New(fault.Invalid, "idempotency_key_reused", "This %s was sent with another request.", keyHeader).
			Do("Take a new key for every request that is not a repeat.")
	case status == nil:
		return answer{}, stillRunning()
	case !c.keep:
		return answer{}, fault.New(fault.Conflict, "already_done", "This was done under the same %s; its answer is not kept.", keyHeader).
			Do("Nothing is left to do. To do it once more, take a new key.")
	}
	out.Status = *status
	if err := json.Unmarshal(headers, &out.Header); err != nil {
		return answer{}, fmt.Errorf("api: kept headers: %w", err)
	}
	out.Header["Idempotency-Replayed"] = "true"
	return out, nil
}

func stillRunning() error {
	return fault.New(fault.Conflict, "request_running", "The same request is running.").
		Do("Wait a moment and send it again under the same key.")
}

func (a *surface) keep(ctx context.Context, c claim, out answer) error {
	headers, body := []byte("{}"), []byte(nil)
	if c.keep {
		var err error
		if headers, err = json.Marshal(out.Header); err != nil {
			return fmt.Errorf("api: keep headers: %w", err)
		}
		body = out.Body
	}
	_, err := a.DB.Exec(ctx, `UPDATE idempotency_keys SET status = $5, headers = $6, body = $7 WHERE (workspace, subject, key) = ($1, $2, $3) AND request_hash = $4`,
		c.who.Workspace, c.who.Subject, c.key, c.hash, out.Status, headers, body)
	if err != nil {
		a.Root.Log.WarnContext(ctx, "api: answer not kept", "error", err)
	}
	return nil // it was done: the client hears so
}

func (a *surface) free(ctx context.Context, c claim) error {
	_, err := a.DB.Exec(ctx, `DELETE FROM idempotency_keys WHERE (workspace, subject, key) = ($1, $2, $3) AND request_hash = $4 AND status IS NULL`,
		c.who.Workspace, c.who.Subject, c.key, c.hash)
	return pg.Fault(err)
}
