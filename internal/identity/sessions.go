package identity

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/fault"
	"capstore/internal/pg"
)

// SessionLife is how long a sign-in lasts, used or not: an idle limit would
// make every request a write.
const SessionLife = 14 * 24 * time.Hour

const (
	sessionSubject = "subject"
	maxUserAgent   = 256
)

// Sessions are the sign-ins of browsers, kept in PostgreSQL under the hash of
// the cookie. Its LoadAndSave is the middleware that every page runs under.
type Sessions struct {
	*scs.SessionManager
	db *pg.DB
	q  *db.Queries
}

// Session is one sign-in as its owner may see it.
type Session struct {
	ID        string
	UserAgent string
	Address   string
	CreatedAt time.Time
	ExpiresAt time.Time
	Current   bool
}

// NewSessions returns the sessions of the database. secure says that pages are
// served over TLS, which the cookie then insists on.
func NewSessions(database *pg.DB, secure bool) *Sessions {
	// Not scs.New: it starts a goroutine for a store in memory that nothing can
	// stop. What it leaves empty here is the key under which the request's
	// context holds the session, which only has to differ between managers.
	m := &scs.SessionManager{
		Lifetime:         SessionLife,
		Store:            &sessionStore{database, db.New()},
		Codec:            scs.GobCodec{},
		ErrorFunc:        sessionTrouble,
		HashTokenInStore: true,
		Cookie: scs.SessionCookie{
			Name: "capstore_session", Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, Persist: true,
		},
	}
	if secure {
		m.Cookie.Name, m.Cookie.Secure = "__Host-capstore", true
	}
	return &Sessions{m, database, db.New()}
}

// sessionTrouble answers when a session cannot be read or kept; a surface may
// set an ErrorFunc that looks like its other pages.
func sessionTrouble(w http.ResponseWriter, r *http.Request, err error) {
	slog.ErrorContext(r.Context(), "identity: session", slog.Any("error", err))
	http.Error(w, fault.From(err).Message, http.StatusServiceUnavailable)
}

// Subject returns who the request of ctx is signed in as, "" when nobody.
func (s *Sessions) Subject(ctx context.Context) string { return s.GetString(ctx, sessionSubject) }

// Begin signs the subject in under a new cookie and forgets the old one. how
// says for the audit log what proved him: password, invitation, setup, demo.
func (s *Sessions) Begin(ctx context.Context, subject, how, userAgent string) error {
	id, err := subjectID(subject)
	if err != nil {
		return err
	}
	if err := s.RenewToken(ctx); err != nil {
		return pg.Fault(fmt.Errorf("renew session: %w", err))
	}
	s.Put(ctx, sessionSubject, subject)
	return s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		token, _, err := s.Commit(withNewSession(ctx, tx))
		if err != nil {
			return fmt.Errorf("keep session: %w", err)
		}
		err = s.q.InsertSessionOwner(ctx, tx, db.InsertSessionOwnerParams{
			Token: storedToken(token), ID: newID(), Subject: id,
			UserAgent: cutText(userAgent, maxUserAgent), Address: pg.Address(ctx),
		})
		if err != nil {
			return err
		}
		return pg.Audit(ctx, tx, pg.Entry{Subject: subject, Action: "signin", Detail: map[string]string{"by": how}})
	})
}

// End signs the request's session out.
func (s *Sessions) End(ctx context.Context) error {
	subject := s.Subject(ctx)
	if err := s.Destroy(ctx); err != nil {
		return pg.Fault(fmt.Errorf("end session: %w", err))
	}
	if subject == "" {
		return nil
	}
	return s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		return pg.Audit(ctx, tx, pg.Entry{Subject: subject, Action: "signout"})
	})
}

// Key names the request's session to Service.ChangePassword. It is no
// credential.
func (s *Sessions) Key(ctx context.Context) string { return storedToken(s.Token(ctx)) }

// List returns a person's sessions, newest first.
func (s *Sessions) List(ctx context.Context, subject string) ([]Session, error) {
	id, err := subjectID(subject)
	if err != nil {
		return nil, err
	}
	rows, err := s.q.ListSessions(ctx, s.db, id)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list sessions: %w", err))
	}
	here := s.Key(ctx)
	out := make([]Session, len(rows))
	for i, r := range rows {
		out[i] = Session{r.ID.String(), r.UserAgent, r.Address, r.CreatedAt, r.Expiry, r.Token == here}
	}
	return out, nil
}

// EndOne ends one of a person's own sessions, on whatever machine it is;
// another's is missing.
func (s *Sessions) EndOne(ctx context.Context, subject, session string) error {
	owner, err := subjectID(subject)
	if err != nil {
		return err
	}
	id, err := subjectID(session)
	if err != nil {
		return err
	}
	return s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		n, err := s.q.EndSession(ctx, tx, db.EndSessionParams{Subject: owner, ID: id})
		if err != nil {
			return err
		}
		if n == 0 {
			return fault.Missing()
		}
		return pg.Audit(ctx, tx, pg.Entry{Subject: subject, Action: "session.end", Target: session})
	})
}

// EndOthers ends a person's sessions but the request's own and returns how
// many there were.
func (s *Sessions) EndOthers(ctx context.Context, subject string) (n int64, err error) {
	id, err := subjectID(subject)
	if err != nil {
		return 0, err
	}
	keep := s.Key(ctx)
	err = s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) (err error) {
		n, err = s.q.EndOtherSessions(ctx, tx, db.EndOtherSessionsParams{Subject: id, Keep: keep})
		if err != nil {
			return err
		}
		return pg.Audit(ctx, tx, pg.Entry{Subject: subject, Action: "session.end_others", Detail: map[string]int64{"ended": n}})
	})
	return n, err
}

// storedToken is the hash under which scs keeps a token.
func storedToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// cutText makes a header's value storable: valid text of at most n bytes.
func cutText(s string, n int) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s[:min(len(s), n)], ""), "\x00", "")
	return s
}
