package api_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestSameKey sends writes again under their key.
func TestSameKey(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	plain := s.as(max)
	c := plain.plus("Idempotency-Key", "k-1")
	first := c.post(acme+"/capabilities", codeTool("Tool")).want(http.StatusCreated)
	again := c.post(acme+"/capabilities", codeTool("Tool")).want(http.StatusCreated)
	if again.Body != first.Body || again.Header.Get("Location") != first.Header.Get("Location") || again.Header.Get("ETag") != first.Header.Get("ETag") {
		t.Errorf("replayed %v %s, first %v %s", again.Header, again.Body, first.Header, first.Body)
	}
	if again.Header.Get("Idempotency-Replayed") != "true" || first.Header.Get("Idempotency-Replayed") != "" {
		t.Errorf("replay not marked: %v", again.Header)
	}
	c.post(acme+"/capabilities", codeTool("Other")).refused(http.StatusUnprocessableEntity, "idempotency_key_reused")
	c.send(http.MethodDelete, acme+"/capabilities/tool", nil).refused(http.StatusUnprocessableEntity, "idempotency_key_reused")
	s.as(mia).plus("Idempotency-Key", "k-1").post(acme+"/capabilities", codeTool("Mine")).want(http.StatusCreated) // keys are one's own

	gone := plain.plus("Idempotency-Key", "k-2")
	gone.send(http.MethodDelete, acme+"/capabilities/tool", nil).want(http.StatusNoContent)
	gone.send(http.MethodDelete, acme+"/capabilities/tool", nil).want(http.StatusNoContent)
	plain.send(http.MethodDelete, acme+"/capabilities/tool", nil).want(http.StatusNotFound)

	for _, key := range []string{strings.Repeat("k", 256), "k 1", "k\x7f", "é"} {
		plain.plus("Idempotency-Key", key).post(acme+"/capabilities", codeTool("Bad key")).refused(http.StatusBadRequest, "bad_idempotency_key")
	}
}

// TestFailureFreesKey: what was refused has changed nothing, so its key is as
// good as new.
func TestFailureFreesKey(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := s.as(max).plus("Idempotency-Key", "k-1")
	c.post(acme+"/agent/capabilities", map[string]any{"source": "acme", "id": "tool", "version": "1.0.0"}).want(http.StatusNotFound)
	c.post(acme+"/capabilities", codeTool("Tool")).want(http.StatusCreated)
}

// TestSameKeyAtOnce sends one request many times at once: it is done once.
func TestSameKeyAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := s.as(max).plus("Idempotency-Key", "k-1")
	answers := together(12, func(int) *answer {
		return c.post(acme+"/skills", map[string]any{"name": "One", "description": "x", "spec": map[string]any{"type": "skill", "instructions": "x"}})
	})
	made := 0
	for _, a := range answers {
		switch {
		case a.Status == http.StatusCreated && a.Header.Get("Idempotency-Replayed") == "":
			made++
		case a.Status == http.StatusCreated:
		default:
			a.refused(http.StatusConflict, "request_running")
		}
	}
	if made != 1 {
		t.Errorf("done %d times", made)
	}
}

// TestConfidentialIsNotKept: a credential in an answer and a value in a body
// are stored nowhere, so a repeat hears only that it was done.
func TestConfidentialIsNotKept(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := s.as(ada).plus("Idempotency-Key", "k-1")
	invitation := c.post(acme+"/invitations", map[string]any{"role": "member"}).want(http.StatusCreated).object()
	c.post(acme+"/invitations", map[string]any{"role": "member"}).refused(http.StatusConflict, "already_done")
	c.plus("Idempotency-Key", "k-2").put(acme+"/secrets/NAME", map[string]any{"value": "canary-value"}).want(http.StatusCreated)

	rows, err := s.db.Query(t.Context(), `SELECT row_to_json(k)::text || coalesce(encode(body, 'escape'), '') FROM idempotency_keys k`)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var text string
		must(t, rows.Scan(&text))
		if strings.Contains(text, invitation["token"].(string)) || strings.Contains(text, "canary-value") {
			t.Errorf("kept: %s", text)
		}
	}
	must(t, rows.Err())
}

// TestAbandonedKey: a server that died in the middle leaves a claim, which the
// same request takes over once nobody can be working on it.
func TestAbandonedKey(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := s.as(max).plus("Idempotency-Key", "k-1")
	c.post(acme+"/capabilities", codeTool("Tool")).want(http.StatusCreated)
	_, err := s.db.Exec(t.Context(), `UPDATE idempotency_keys SET status = NULL, body = NULL`)
	must(t, err)
	c.post(acme+"/capabilities", codeTool("Tool")).refused(http.StatusConflict, "request_running")
	_, err = s.db.Exec(t.Context(), `UPDATE idempotency_keys SET created_at = now() - interval '11 minutes'`)
	must(t, err)
	c.post(acme+"/capabilities", codeTool("Tool")).want(http.StatusOK)
}
