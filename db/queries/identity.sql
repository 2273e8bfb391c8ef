-- People -----------------------------------------------------------------------

-- name: HasUsers :one
SELECT EXISTS (SELECT 1 FROM users)::boolean;

-- name: LockSetup :exec
SELECT pg_advisory_xact_lock(hashtext('capstore.setup'));

-- name: InsertUser :execrows
INSERT INTO users (id, email, name, password_hash)
VALUES (@id, @email, @name, @password_hash)
ON CONFLICT DO NOTHING;

-- name: UserByEmail :one
SELECT id, email, name, password_hash FROM users WHERE lower(email) = lower(@email::text);

-- name: UserByID :one
SELECT id, email, name, password_hash FROM users WHERE id = @id;

-- name: SetPasswordHash :exec
UPDATE users SET password_hash = @password_hash WHERE id = @id;

-- name: SetProfile :execrows
UPDATE users SET name = @name, locale = @locale, theme = @theme WHERE id = @id;

-- name: DismissHint :execrows
UPDATE users SET dismissed = array_append(dismissed, @hint::text)
WHERE id = @id AND NOT @hint::text = ANY (dismissed);

-- One row per membership and at least one when the user exists.
-- name: Principal :many
SELECT u.id, u.email, u.name, u.locale, u.theme, u.dismissed,
       (u.password_hash IS NOT NULL)::boolean AS has_password,
       m.workspace, w.name AS workspace_name, m.role,
       -- What waits for his word stands on every page, so it comes with the principal.
       (SELECT count(*) FROM (
           SELECT FROM approvals a
           WHERE a.workspace = m.workspace AND a.subject = m.subject AND a.answer IS NULL AND a.expires_at > clock_timestamp() LIMIT 100
       ) open)::int AS waiting
FROM users u
LEFT JOIN memberships m ON m.subject = u.id
LEFT JOIN workspaces w ON w.slug = m.workspace
WHERE u.id = @subject
ORDER BY w.name, w.slug;

-- The note of use is part of the look-up, at most once a minute, so that a
-- request by token costs one statement.
-- name: PrincipalByToken :many
WITH used AS (
    UPDATE tokens SET last_used_at = now()
    WHERE tokens.token_hash = @token_hash AND tokens.revoked_at IS NULL AND tokens.expires_at > now()
      AND (tokens.last_used_at IS NULL OR tokens.last_used_at < now() - interval '1 minute')
)
SELECT t.id AS token_id, t.workspace AS token_workspace, t.scope,
       u.id, u.email, u.name, u.locale, u.theme, u.dismissed,
       (u.password_hash IS NOT NULL)::boolean AS has_password,
       m.workspace, w.name AS workspace_name, m.role
FROM tokens t
JOIN users u ON u.id = t.subject
LEFT JOIN memberships m ON m.subject = u.id
LEFT JOIN workspaces w ON w.slug = m.workspace
WHERE t.token_hash = @token_hash AND t.revoked_at IS NULL AND t.expires_at > now()
ORDER BY w.name, w.slug;

-- Sign-in ------------------------------------------------------------------------

-- name: LockSignIn :exec
SELECT pg_advisory_xact_lock(hashtext('capstore.signin'), hashtext(@key::text));

-- name: CountFailures :one
SELECT count(*) AS failures,
       coalesce(ceil(extract(epoch FROM min(at) + make_interval(secs => @window_secs::float8) - now())), 0)::int AS retry_secs
FROM signin_failures
WHERE key = @key AND at > now() - make_interval(secs => @window_secs::float8);

-- name: InsertFailure :exec
INSERT INTO signin_failures (key) VALUES (@key);

-- name: ForgetFailures :exec
DELETE FROM signin_failures WHERE key = @key;

-- One only: an address may be shared by people who do mistype.
-- name: ForgetOneFailure :exec
DELETE FROM signin_failures
WHERE ctid = (SELECT f.ctid FROM signin_failures f WHERE f.key = @key ORDER BY f.at DESC LIMIT 1);

-- name: PruneFailures :execrows
DELETE FROM signin_failures WHERE at < now() - make_interval(secs => @window_secs::float8);

-- Sessions -----------------------------------------------------------------------

-- name: FindSession :one
SELECT data FROM sessions WHERE token = @token AND expiry > now();

-- Repeated when its transaction is.
-- name: InsertSession :exec
INSERT INTO sessions (token, data, expiry)
VALUES (@token, @data, now() + make_interval(secs => @left_secs::float8))
ON CONFLICT (token) DO NOTHING;

-- Only a session that is still there: one that was ended elsewhere in the
-- meantime must not come back by a late write.
-- name: UpdateSession :exec
UPDATE sessions SET data = @data, expiry = now() + make_interval(secs => @left_secs::float8) WHERE token = @token;

-- name: DeleteSession :exec
DELETE FROM sessions WHERE token = @token;

-- name: PruneSessions :execrows
DELETE FROM sessions WHERE expiry < now();

-- name: InsertSessionOwner :exec
INSERT INTO session_owners (token, id, subject, user_agent, address)
VALUES (@token, @id, @subject, @user_agent, @address);

-- name: ListSessions :many
SELECT o.id, o.token, o.user_agent, o.address, o.created_at, s.expiry
FROM session_owners o
JOIN sessions s ON s.token = o.token
WHERE o.subject = @subject AND s.expiry > now()
ORDER BY o.created_at DESC;

-- name: EndSession :execrows
DELETE FROM sessions s USING session_owners o
WHERE o.token = s.token AND o.subject = @subject AND o.id = @id;

-- name: EndOtherSessions :execrows
DELETE FROM sessions s USING session_owners o
WHERE o.token = s.token AND o.subject = @subject AND s.token <> @keep;

-- Workspaces and members ---------------------------------------------------------

-- name: InsertWorkspace :execrows
INSERT INTO workspaces (slug, name) VALUES (@slug, @name) ON CONFLICT DO NOTHING;

-- name: RenameWorkspace :execrows
UPDATE workspaces SET name = @name WHERE slug = @slug;

-- name: LockWorkspace :one
SELECT slug FROM workspaces WHERE slug = @slug FOR UPDATE;

-- name: InsertMember :execrows
INSERT INTO memberships (workspace, subject, role) VALUES (@workspace, @subject, @role)
ON CONFLICT DO NOTHING;

-- name: RoleOf :one
SELECT role FROM memberships WHERE workspace = @workspace AND subject = @subject;

-- name: CountAdmins :one
SELECT count(*) FROM memberships WHERE workspace = @workspace AND role = 'admin';

-- name: SetRole :exec
UPDATE memberships SET role = @role WHERE workspace = @workspace AND subject = @subject;

-- name: DeleteMember :exec
DELETE FROM memberships WHERE workspace = @workspace AND subject = @subject;

-- The viewer's own membership is part of the query: an outsider reads nothing.
-- name: ListMembers :many
SELECT m.subject, u.email, u.name, m.role, m.created_at
FROM memberships m
JOIN users u ON u.id = m.subject
WHERE m.workspace = @workspace
  AND EXISTS (SELECT 1 FROM memberships me WHERE me.workspace = @workspace AND me.subject = @viewer)
ORDER BY lower(u.name), u.email;

-- Invitations --------------------------------------------------------------------

-- name: InsertInvitation :one
INSERT INTO invitations (id, workspace, token_hash, role, email, created_by, expires_at)
VALUES (@id, @workspace, @token_hash, @role, @email, @created_by, now() + make_interval(secs => @ttl_secs::float8))
RETURNING created_at, expires_at;

-- name: ListInvitations :many
SELECT i.id, i.role, i.email, i.created_at, i.expires_at, u.name AS created_by_name
FROM invitations i
JOIN users u ON u.id = i.created_by
WHERE i.workspace = @workspace AND i.used_at IS NULL AND i.revoked_at IS NULL AND i.expires_at > now()
  AND EXISTS (SELECT 1 FROM memberships me
              WHERE me.workspace = @workspace AND me.subject = @viewer AND me.role = 'admin')
ORDER BY i.created_at DESC, i.id DESC;

-- name: RevokeInvitation :execrows
UPDATE invitations SET revoked_at = now()
WHERE id = @id AND workspace = @workspace AND used_at IS NULL AND revoked_at IS NULL;

-- name: RevokeInvitationsBy :execrows
UPDATE invitations SET revoked_at = now()
WHERE workspace = @workspace AND created_by = @created_by AND used_at IS NULL AND revoked_at IS NULL;

-- name: OpenInvitation :one
SELECT i.id, i.workspace, w.name AS workspace_name, i.role, i.email, i.created_at, i.expires_at, u.name AS created_by_name
FROM invitations i
JOIN workspaces w ON w.slug = i.workspace
JOIN users u ON u.id = i.created_by
WHERE i.token_hash = @token_hash AND i.used_at IS NULL AND i.revoked_at IS NULL AND i.expires_at > now();

-- name: LockOpenInvitation :one
SELECT id, workspace, role, email FROM invitations
WHERE token_hash = @token_hash AND used_at IS NULL AND revoked_at IS NULL AND expires_at > now()
FOR UPDATE;

-- name: UseInvitation :exec
UPDATE invitations SET used_by = @used_by, used_at = now() WHERE id = @id;

-- Personal access tokens ---------------------------------------------------------

-- name: InsertToken :one
INSERT INTO tokens (id, subject, workspace, token_hash, name, scope, expires_at)
VALUES (@id, @subject, @workspace, @token_hash, @name, @scope, now() + make_interval(secs => @ttl_secs::float8))
RETURNING created_at, expires_at;

-- name: ListTokens :many
SELECT id, workspace, name, scope, created_at, expires_at, last_used_at,
       (expires_at <= now())::boolean AS expired
FROM tokens
WHERE subject = @subject AND revoked_at IS NULL
ORDER BY created_at DESC, id DESC;

-- name: RevokeToken :one
UPDATE tokens SET revoked_at = now()
WHERE id = @id AND subject = @subject AND revoked_at IS NULL
RETURNING workspace, name;

-- name: RevokeTokensIn :execrows
UPDATE tokens SET revoked_at = now()
WHERE subject = @subject AND workspace = @workspace AND revoked_at IS NULL;
