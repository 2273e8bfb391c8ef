package identity

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/pg"
)

// sessionStore is scs's store over our pool. The ready-made pgxstore ignores
// the request's context, so its statements would outlive a request, count
// nowhere, and revive a session that was ended while a request ran.
type sessionStore struct {
	db *pg.DB
	q  *db.Queries
}

type newSessionKey struct{}

// withNewSession lets CommitCtx make the session, within tx.
func withNewSession(ctx context.Context, tx pgx.Tx) context.Context {
	return context.WithValue(ctx, newSessionKey{}, tx)
}

// FindCtx returns the session's data, false when there is none or it expired.
func (s *sessionStore) FindCtx(ctx context.Context, token string) ([]byte, bool, error) {
	data, err := s.q.FindSession(ctx, s.db, token)
	if none(err) {
		return nil, false, nil
	}
	return data, err == nil, pg.Fault(err)
}

// CommitCtx writes the session. Only Begin makes one; any other write changes
// what is there, or nothing when it has been ended in the meantime. The time
// left is kept by the database's clock.
func (s *sessionStore) CommitCtx(ctx context.Context, token string, data []byte, expiry time.Time) error {
	left := time.Until(expiry).Seconds()
	if tx, ok := ctx.Value(newSessionKey{}).(pgx.Tx); ok {
		return s.q.InsertSession(ctx, tx, db.InsertSessionParams{Token: token, Data: data, LeftSecs: left})
	}
	return pg.Fault(s.q.UpdateSession(ctx, s.db, db.UpdateSessionParams{Token: token, Data: data, LeftSecs: left}))
}

// DeleteCtx ends the session, if there is one.
func (s *sessionStore) DeleteCtx(ctx context.Context, token string) error {
	return pg.Fault(s.q.DeleteSession(ctx, s.db, token))
}

// Find, Commit and Delete complete scs.Store, which prefers those above.
func (s *sessionStore) Find(token string) ([]byte, bool, error) {
	return s.FindCtx(context.Background(), token)
}

func (s *sessionStore) Commit(token string, data []byte, expiry time.Time) error {
	return s.CommitCtx(context.Background(), token, data, expiry)
}

func (s *sessionStore) Delete(token string) error { return s.DeleteCtx(context.Background(), token) }
