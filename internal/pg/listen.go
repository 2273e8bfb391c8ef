package pg

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/sethvargo/go-retry"
)

// listen turns notifications into hints until ctx ends, on a connection of
// its own: one of the pool would be missing there for ever.
func (f *Feed) listen(ctx context.Context) {
	for ctx.Err() == nil {
		backoff := retry.WithCappedDuration(10*time.Second, retry.WithJitterPercent(20, retry.NewExponential(100*time.Millisecond)))
		var conn *pgx.Conn
		err := retry.Do(ctx, backoff, func(ctx context.Context) (err error) {
			conn, err = f.connect(ctx)
			return retry.RetryableError(err)
		})
		if err != nil {
			return // only ctx ends the attempts
		}
		f.Listening.Send(struct{}{})
		err = f.receive(ctx, conn)
		_ = conn.Close(context.WithoutCancel(ctx)) // it is broken or no longer wanted
		if ctx.Err() == nil {
			f.cfg.Log.WarnContext(ctx, "change feed: lost its connection", "err", err)
		}
	}
}

func (f *Feed) connect(ctx context.Context) (*pgx.Conn, error) {
	cfg := f.db.Config().ConnConfig
	cfg.RuntimeParams["application_name"] += "-feed"
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Exec(ctx, "listen "+channel); err != nil {
		_ = conn.Close(context.WithoutCancel(ctx)) // the error that counts is the other one
		return nil, err
	}
	return conn, nil
}

// receive hints once at first, for what came before it listened, and then at
// each notification.
func (f *Feed) receive(ctx context.Context, conn *pgx.Conn) error {
	for {
		select {
		case f.hint <- struct{}{}:
		default: // a hint is under way already
		}
		if _, err := conn.WaitForNotification(ctx); err != nil {
			return err
		}
	}
}
