package api_test

import (
	"testing"

	"github.com/google/uuid"
)

// TestRegistry reads a report, its epochs page by page, and what a turn saw.
func TestRegistry(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	report := s.as(max).get(acme + "/registry/report").want(200)
	report.is("acme", "workspace").is(s.subject(max), "subject").holds(0, "pool").holds(0, "misreads").is(1.0, "epoch")
	digest := report.at("digest")

	of := acme + "/registry/report?member=" + s.subject(max)
	s.as(ada).get(of).want(200).is(digest, "digest")
	s.as(vera).get(of).refused(403, "role_too_low")
	s.as(ada).get(acme+"/registry/report?member="+uuid.NewString()).refused(404, "not_found")
	s.as(ada).get(acme+"/registry/report?member=nobody").refused(404, "not_found")

	s.as(max).get(acme+"/registry/epochs?limit=1").want(200).holds(1, "items").is(digest, "items", 0, "digest").is("", "nextCursor")
	s.as(max).get(acme+"/registry/epochs?cursor=1").want(200).holds(0, "items")
	s.as(max).get(acme+"/registry/epochs?limit=201").refused(422, "invalid")
	s.as(max).get(acme+"/registry/epochs?cursor=!").refused(400, "bad_cursor")
	s.as(vera).get(acme+"/registry/epochs?member="+s.subject(max)).refused(403, "role_too_low")

	conversation, turn := uuid.New(), uuid.New()
	_, err := s.db.Exec(t.Context(), `INSERT INTO conversations (id, workspace, subject) VALUES ($1, 'acme', $2)`, conversation, s.subject(max))
	must(t, err)
	_, err = s.db.Exec(t.Context(), `INSERT INTO turns (turn, conversation, workspace, subject, surface, epoch, digest, mode, model, state, server)
		VALUES ($1, $2, 'acme', $3, 'web', 1, $4, 'ask', 'house', 'done', $1)`, turn, conversation, s.subject(max), digest)
	must(t, err)
	at := acme + "/registry/turns/" + turn.String()
	own := s.as(max).get(at).want(200).is(digest, "digest").is(conversation.String(), "conversation").is("house", "model").is(nil, "loading")
	entries := own.at("entries").([]any)
	if len(entries) == 0 {
		t.Error("the turn saw nothing")
	}
	s.as(ada).get(at).want(200).is(nil, "conversation").holds(len(entries), "entries")
	s.as(vera).get(at).refused(404, "not_found")
	s.as(max).get(acme+"/registry/turns/"+uuid.NewString()).refused(404, "not_found")
	s.as(max).get(acme+"/registry/turns/none").refused(404, "not_found")
}
