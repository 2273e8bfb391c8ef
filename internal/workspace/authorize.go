package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/internal/capability"
	"capstore/internal/fault"
)

// Call is what is about to run, as the turn bound it. Row.Call makes one.
type Call struct {
	Key     capability.Key
	Source  string // of a capability of the store
	ID      string
	Version string
	Digest  string
	Tool    string // raw name of the function, "" for hooks, commands and skills
	// Write is the runtime's word that the function changes something. What
	// the grant counts as a write is one whatever this says.
	Write bool
	// Listing asks a server for its tools and runs none of them.
	Listing bool
	// Secrets is what the call will be given, declared name → secret's name.
	Secrets map[string]string
	// Egress is the hosts that it will be let through to.
	Egress []string
	// Arguments are what policies may look at; nil where there are none.
	Arguments json.RawMessage
}

// Call is a call of one function of the row; f is zero for hooks, commands and
// skills.
func (r Row) Call(f Function) Call {
	return Call{
		Key: r.Key, Source: r.Source, ID: r.ID, Version: r.Version, Digest: r.Digest,
		Tool: f.Raw, Write: f.Write,
		Secrets: r.Grant.SecretBindings, Egress: r.Grant.Egress,
	}
}

// Codes of a revoked fault: the reasons why a call that the turn still lists
// may not start.
const (
	RevokedMembership  = "membership_ended"
	RevokedAdoption    = "not_adopted"
	RevokedSwitch      = "switched_off"
	RevokedGone        = "capability_gone" // tombstoned, or its reach was withdrawn
	RevokedBlocked     = "version_blocked"
	RevokedConsent     = "consent_missing"
	RevokedDigest      = "digest_mismatch"
	RevokedWrite       = "write_not_enabled"
	RevokedSecret      = "secret_removed"
	RevokedEgress      = "egress_withdrawn"
	RevokedPolicy      = "policy_denied"
	RevokedServer      = "server_removed"
	RevokedServerEntry = "server_changed"
)

// authoritySQL reads and share-locks, in this order, everything that a call
// hangs on: the workspace's config head, the membership, the member's switch,
// the adoption, the capability, its version and the secrets by name. A writer
// of any of these waits until the caller's transaction ends, or has committed
// before and is seen: a locked row is read as it is now. What writers insert,
// and so cannot be locked, moves the head's or the membership's revision,
// which is compared with the statement's own snapshot.
const authoritySQL = `
WITH head AS (
	SELECT config_version FROM workspaces WHERE slug = $1 FOR SHARE
), member AS (
	SELECT role, overlay_revision FROM memberships
	WHERE workspace = $1 AND subject = $2 AND EXISTS (SELECT FROM head) FOR SHARE
), switch AS (
	SELECT enabled FROM overlays
	WHERE workspace = $1 AND subject = $2 AND key = $3 AND EXISTS (SELECT FROM member) FOR SHARE
), adopted AS (
	SELECT a.adoption, a.consented FROM adoptions a
	WHERE a.workspace = $1
		AND a.capability_pk = (SELECT pk FROM capabilities WHERE source = $4 AND id = $5)
		AND EXISTS (SELECT FROM member)
	FOR SHARE
), thing AS (
	SELECT pk, reach, shared_with, created_by, maintainers, tombstoned_at IS NOT NULL AS tombstoned FROM capabilities
	WHERE source = $4 AND id = $5 AND (SELECT count(*) FROM adopted) >= 0 FOR SHARE
), pinned AS (
	SELECT pk, kind, name, digest, blocked_at IS NOT NULL AS blocked, blocked_reason FROM capability_versions
	WHERE capability_pk = (SELECT pk FROM thing) AND version = $6 FOR SHARE
), held AS (
	SELECT name FROM secrets
	WHERE workspace = $1 AND (subject IS NULL OR subject = $2) AND name = ANY ($7)
		AND EXISTS (SELECT FROM member) FOR SHARE
)
SELECT head.config_version, member.role, member.overlay_revision,
	(SELECT config_version FROM workspaces WHERE slug = $1),
	(SELECT overlay_revision FROM memberships WHERE workspace = $1 AND subject = $2),
	switch.enabled, adopted.adoption, adopted.consented,
	coalesce(thing.reach, ''), thing.shared_with, thing.created_by, thing.maintainers, coalesce(thing.tombstoned, true),
	coalesce(pinned.pk, 0), coalesce(pinned.kind, ''), coalesce(pinned.name, ''), coalesce(pinned.digest, ''),
	coalesce(pinned.blocked, true), coalesce(pinned.blocked_reason, ''),
	ARRAY(SELECT name FROM held),
	EXISTS (SELECT FROM skills
		WHERE workspace = $1 AND id = substr($3, 7) AND $3 LIKE 'skill:%' AND draft AND created_by <> $2)
FROM head LEFT JOIN member ON true LEFT JOIN switch ON true LEFT JOIN adopted ON true LEFT JOIN thing ON true
	LEFT JOIN pinned ON true`

// authority is what authoritySQL read.
type authority struct {
	actor    capability.Actor // with the role as it is now
	config   capability.AgentConfig
	overlay  *bool
	grant    *capability.Adoption
	consents []string
	access   capability.Access
	gone     bool
	version  pinnedVersion
	secrets  []string
	// hiddenSkill says that the key is by now another member's draft.
	hiddenSkill bool
}

type pinnedVersion struct {
	pk            int64
	kind          capability.Kind
	name, digest  string
	blocked       bool
	blockedReason string
}

// Authorize decides whether the call may start now, whatever the caller's
// snapshot says, in one statement on the caller's transaction (one more for a
// config or version that this process has not seen). What it rests on stays
// share-locked until that transaction ends, so no revocation commits between
// the check and the commit of whatever records the start.
//
// It returns nil, a Denied fault where role or scope fall short, a Revoked one
// with one of the codes above, or an Unavailable one when the check itself
// cannot be made.
//
// The version called may be one that was re-pinned since the turn began: a
// re-pin waits for the next turn. Neither does an edited or deleted skill
// refuse; its switch does.
func (s *Service) Authorize(ctx context.Context, tx pgx.Tx, actor capability.Actor, call Call) error {
	a, err := s.authorityOf(ctx, tx, actor, call)
	if err == nil {
		err = s.permit(ctx, tx, a, call)
	}
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	if f, ok := errors.AsType[*fault.Fault](err); ok && (f.Kind == fault.Revoked || f.Kind == fault.Denied) {
		return err
	}
	return fault.New(fault.Unavailable, "authorization_unavailable", "Whether this call is allowed could not be checked, so it was not made.").
		Do("Try again in a moment.").Because(err)
}

// tries bounds how often the check is made anew because somebody wrote between
// its snapshot and its locks; each time that somebody has committed.
const tries = 5

var errUnsettled = errors.New("workspace: the authority kept changing under the check")

func (s *Service) authorityOf(ctx context.Context, tx pgx.Tx, actor capability.Actor, call Call) (*authority, error) {
	subject, err := subjectOf(actor)
	if err != nil {
		return nil, revoked(RevokedMembership, "You are no member of this workspace.")
	}
	for range tries {
		a, settled, err := s.readAuthority(ctx, tx, actor, subject, call)
		if err != nil || settled {
			return a, err
		}
	}
	return nil, errUnsettled
}

func (s *Service) readAuthority(ctx context.Context, tx pgx.Tx, actor capability.Actor, subject uuid.UUID, call Call) (*authority, bool, error) {
	a := &authority{actor: actor}
	var (
		version, seenVersion   *int
		revision, seenRevision *int64
		role                   *string
		createdBy              *uuid.UUID
		maintainers            []uuid.UUID
		reach                  string
		sharedWith             []string
		adoption               []byte
		names                  = slices.Sorted(maps.Values(call.Secrets))
		p                      = &a.version
	)
	err := tx.QueryRow(ctx, authoritySQL, actor.Workspace, subject, string(call.Key), call.Source, call.ID, call.Version, names).Scan(
		&version, &role, &revision, &seenVersion, &seenRevision, &a.overlay, &adoption, &a.consents,
		&reach, &sharedWith, &createdBy, &maintainers, &a.gone,
		&p.pk, &p.kind, &p.name, &p.digest, &p.blocked, &p.blockedReason, &a.secrets, &a.hiddenSkill)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && role == nil {
		return nil, true, revoked(RevokedMembership, "You are no longer a member of this workspace.")
	}
	if err != nil {
		return nil, true, fmt.Errorf("check authority: %w", err)
	}
	if seenVersion == nil || seenRevision == nil || *version != *seenVersion || *revision != *seenRevision {
		return nil, false, nil
	}
	a.actor.Role = capability.Role(*role)
	a.access = accessOf(call.Source, reach, sharedWith, createdBy, maintainers)
	if adoption != nil {
		if a.grant, err = decodeAdoption(adoption); err != nil {
			return nil, true, err
		}
	}
	a.config, err = s.configIn(ctx, tx, actor.Workspace, *version)
	return a, true, err
}

// configIn returns an immutable config, from memory where it was seen before.
func (s *Service) configIn(ctx context.Context, tx pgx.Tx, workspace string, version int) (capability.AgentConfig, error) {
	return s.known.config(workspace, version, func() (capability.AgentConfig, error) {
		now, err := newestConfig(ctx, tx, workspace)
		if err == nil && now.Version != version {
			err = fmt.Errorf("agent config %s@%d: found %d", workspace, version, now.Version)
		}
		return now.Config, err
	})
}

func revoked(code, format string, args ...any) *fault.Fault {
	return fault.New(fault.Revoked, code, format, args...)
}
