package pg

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Entry is one line of the audit log. Detail holds safe facts only: names,
// versions, digests, never a secret's value.
type Entry struct {
	Workspace string // "" concerns the server
	Subject   string // "" when nobody is signed in
	Action    string // dotted, such as "capability.publish"
	Target    string // what it was done to, such as "acme/tidy-inbox@1.2.0"
	Detail    any    // marshalled to a JSON object; nil is {}
}

type addressKey struct{}

// WithAddress records where the request of ctx came from, for Audit.
func WithAddress(ctx context.Context, address string) context.Context {
	return context.WithValue(ctx, addressKey{}, address)
}

// Address returns what WithAddress recorded, "" when nothing.
func Address(ctx context.Context) string {
	address, _ := ctx.Value(addressKey{}).(string)
	return address
}

// Audit appends the entry in the transaction, so that a mutation and its
// trace commit together or not at all.
func Audit(ctx context.Context, tx pgx.Tx, e Entry) error {
	detail := []byte("{}")
	if e.Detail != nil {
		var err error
		if detail, err = json.Marshal(e.Detail); err != nil {
			return fmt.Errorf("audit %s: %w", e.Action, err)
		}
	}
	_, err := tx.Exec(ctx, `INSERT INTO audit (workspace, subject, action, target, address, detail)
		VALUES ($1, nullif($2, '')::uuid, $3, $4, $5, $6)`,
		e.Workspace, e.Subject, e.Action, e.Target, Address(ctx), detail)
	if err != nil {
		return fmt.Errorf("audit %s: %w", e.Action, err)
	}
	return nil
}
