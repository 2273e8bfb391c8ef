package secret

import (
	"context"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/pg"
)

// MaxValue is how long a secret may be, in bytes.
const MaxValue = 64 << 10

// NewSecret is what goes in. Personal secrets are the actor's own; the others
// are his workspace's.
type NewSecret struct {
	Name     string
	Value    Value
	Personal bool
	// New refuses a name that is in use instead of replacing what it holds.
	New bool
}

// Stored is a secret as it was set.
type Stored struct {
	Info
	Notices []Notice
}

// Notice is something about an accepted value that its owner should know.
type Notice string

const (
	// NoticeTrimmed says that the line break after the value was dropped.
	NoticeTrimmed Notice = "newline_trimmed"
	// NoticeSpaces says that the value begins or ends with a space.
	NoticeSpaces Notice = "spaces_around"
	// NoticeNotForHeaders says that no HTTP header can carry the value.
	NoticeNotForHeaders Notice = "not_for_headers"
)

// Set stores a secret in the place of what its name held before. Making a
// workspace secret takes a member; replacing one takes its maker or an admin.
// A new one whose name is in use is a conflict, secret_taken.
func (s *Service) Set(ctx context.Context, actor capability.Actor, in NewSecret) (Stored, error) {
	key, err := keyOf(actor, in.Name, in.Personal)
	if err != nil {
		return Stored{}, err
	}
	if err := key.may(actor, capability.Fresh); err != nil {
		return Stored{}, err
	}
	clear, notices, err := checked(in)
	if err != nil {
		return Stored{}, err
	}
	out := Stored{Notices: notices}
	err = s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		sealed, err := s.sealFor(ctx, tx, key, clear)
		if err != nil {
			return err
		}
		out.Info, err = s.put(ctx, tx, actor, key, sealed, in.New)
		return err
	})
	return out, err
}

// sealFor encrypts under the newest key and keeps a rotation from dropping
// that key before the row is written.
func (s *Service) sealFor(ctx context.Context, tx pgx.Tx, key rowKey, clear string) ([]byte, error) {
	if err := s.q.LockSecretWrite(ctx, tx); err != nil {
		return nil, err
	}
	if err := s.keys.load(); err != nil {
		return nil, err
	}
	return s.keys.seal([]byte(clear), binding(key.workspace, key.subject, key.name))
}

func (s *Service) put(ctx context.Context, tx pgx.Tx, actor capability.Actor, key rowKey, sealed []byte, fresh bool) (Info, error) {
	held, err := s.lock(ctx, tx, key)
	if errors.Is(err, pgx.ErrNoRows) {
		row, err := s.q.InsertSecret(ctx, tx, db.InsertSecretParams{
			Workspace: key.workspace, Subject: key.subject, Name: key.name, Ciphertext: sealed, CreatedBy: key.actor,
		})
		if err != nil {
			return Info{}, err
		}
		return key.info(actor, db.ReplaceSecretRow(row)), key.record(ctx, tx, "secret.create")
	}
	if err != nil {
		return Info{}, err
	}
	if fresh {
		return Info{}, taken()
	}
	if err := key.may(actor, ownership(held, key)); err != nil {
		return Info{}, err
	}
	row, err := s.q.ReplaceSecret(ctx, tx, db.ReplaceSecretParams{
		Workspace: key.workspace, Subject: key.subject, Name: key.name, Ciphertext: sealed,
	})
	if err != nil {
		return Info{}, err
	}
	return key.info(actor, row), key.record(ctx, tx, "secret.replace")
}

// taken keeps whoever adds a secret from replacing what others rely on.
func taken() error {
	f := fault.New(fault.Conflict, "secret_taken", "There is a secret of this name already.").
		Do("Choose another name, or replace the value of the one that is there.")
	f.Fields = []fault.Field{{Path: "/name", Code: f.Code, Message: f.Message}}
	return f
}

func (k rowKey) info(actor capability.Actor, row db.ReplaceSecretRow) Info {
	own := capability.Ownership{Creator: row.CreatedBy == k.actor}
	return Info{
		k.name, k.subject != nil, row.CreatedBy.String(), row.CreatedByName,
		row.CreatedAt, row.UpdatedAt, row.Revision, k.may(actor, own) == nil,
	}
}

// Delete removes a secret. What is bound to it stays bound, and needs setup.
// One that is not there is missing.
func (s *Service) Delete(ctx context.Context, actor capability.Actor, name string, personal bool) error {
	key, err := keyOf(actor, name, personal)
	if err != nil {
		return err
	}
	if err := key.may(actor, capability.Fresh); err != nil {
		return err
	}
	return s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		row, err := s.lock(ctx, tx, key)
		if err != nil {
			return err
		}
		if err := key.may(actor, ownership(row, key)); err != nil {
			return err
		}
		err = s.q.DeleteSecret(ctx, tx, db.DeleteSecretParams{Workspace: key.workspace, Subject: key.subject, Name: key.name})
		if err != nil {
			return err
		}
		return key.record(ctx, tx, "secret.delete")
	})
}

// lock serialises the writers of one name, whether it has a row yet or not.
func (s *Service) lock(ctx context.Context, tx pgx.Tx, key rowKey) (db.GetSecretRow, error) {
	if err := s.q.LockSecretName(ctx, tx, key.lockName()); err != nil {
		return db.GetSecretRow{}, err
	}
	return s.q.GetSecret(ctx, tx, db.GetSecretParams{Workspace: key.workspace, Subject: key.subject, Name: key.name})
}

// rowKey names a secret's row and who asks for it.
type rowKey struct {
	workspace string
	subject   *uuid.UUID // nil: the workspace's
	name      string
	actor     uuid.UUID
}

func keyOf(actor capability.Actor, name string, personal bool) (rowKey, error) {
	id, err := uuid.Parse(actor.Subject)
	if err != nil {
		return rowKey{}, fault.Missing()
	}
	if !capability.ValidSecretName(name) {
		return rowKey{}, fault.Fields([]fault.Field{{
			Path: "/name", Code: "bad_name", Message: "Use capital letters, digits and underscores, a letter first, at most 64 in all, such as API_KEY.",
		}})
	}
	key := rowKey{workspace: actor.Workspace, name: name, actor: id}
	if personal {
		key.subject = &id
	}
	return key, nil
}

// owner is the subject of a personal secret, "" for the workspace's.
func (k rowKey) owner() string {
	if k.subject == nil {
		return ""
	}
	return k.subject.String()
}

func (k rowKey) lockName() string { return strings.Join([]string{k.workspace, k.owner(), k.name}, "/") }

func (k rowKey) may(actor capability.Actor, own capability.Ownership) error {
	if k.subject != nil {
		return capability.May(actor, capability.ActOwn, own)
	}
	return capability.May(actor, capability.ActSecrets, own)
}

func ownership(row db.GetSecretRow, key rowKey) capability.Ownership {
	return capability.Ownership{Creator: row.CreatedBy == key.actor}
}

func (k rowKey) record(ctx context.Context, tx pgx.Tx, action string) error {
	err := pg.Audit(ctx, tx, pg.Entry{
		Workspace: k.workspace, Subject: k.actor.String(), Action: action, Target: k.name,
		Detail: map[string]bool{"personal": k.subject != nil},
	})
	if err != nil {
		return err
	}
	return pg.Append(ctx, tx, pg.Change{Workspace: k.workspace, Topic: Topic, Key: k.owner()})
}

// checked returns the value as it is stored. A single line loses the break
// that pasting leaves behind it; longer texts stay as they are, since some
// key formats need theirs.
func checked(in NewSecret) (string, []Notice, error) {
	clear := in.Value.Reveal()
	var notices []Notice
	if line := strings.TrimRight(clear, "\r\n"); line != clear && !strings.ContainsAny(line, "\r\n") {
		clear = line
		notices = append(notices, NoticeTrimmed)
	}
	if field, bad := valueFault(clear); bad {
		return "", nil, fault.Fields([]fault.Field{field})
	}
	if strings.TrimSpace(clear) != strings.TrimRight(clear, "\r\n") {
		notices = append(notices, NoticeSpaces)
	}
	if headerTrouble(clear) != "" {
		notices = append(notices, NoticeNotForHeaders)
	}
	return clear, notices, nil
}

func valueFault(clear string) (fault.Field, bool) {
	f := fault.Field{Path: "/value"}
	switch {
	case strings.TrimSpace(clear) == "":
		f.Code, f.Message = "required", "A secret needs a value."
	case len(clear) > MaxValue:
		f.Code, f.Message = "too_long", "A secret has at most 64 KiB."
	case !utf8.ValidString(clear):
		f.Code, f.Message = "bad_text", "A secret is text in UTF-8; encode other bytes, as base64 say."
	case strings.ContainsFunc(clear, func(r rune) bool { return unicode.IsControl(r) && !strings.ContainsRune("\r\n\t", r) }):
		f.Code, f.Message = "control_characters", "A secret holds no control characters but tabs and line breaks."
	default:
		return f, false
	}
	return f, true
}
