package workspace_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/capability"
	"capstore/internal/workspace"
)

func staged(t *testing.T, b *bundle, actor capability.Actor, contents ...string) map[string]string {
	t.Helper()
	var digests []string
	for _, content := range contents {
		digests = append(digests, workspace.ContentDigest([]byte(content)))
	}
	got, err := b.ws.StagedFiles(t.Context(), actor, digests)
	wantCode(t, err, "")
	out := map[string]string{}
	for i, digest := range digests {
		if content, kept := got[digest]; kept {
			out[contents[i]] = string(content)
		}
	}
	return out
}

func TestStagedFilesAreTheirMembersOwn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	wantCode(t, b.ws.StageFiles(t.Context(), b.member, [][]byte{[]byte("a"), []byte("b\x00\xff"), nil, []byte("a")}), "")
	wantCode(t, b.ws.StageFiles(t.Context(), b.member, [][]byte{[]byte("a")}), "")
	if diff := cmp.Diff(map[string]string{"a": "a", "b\x00\xff": "b\x00\xff", "": ""}, staged(t, b, b.member, "a", "b\x00\xff", "", "c")); diff != "" {
		t.Error(diff)
	}
	for _, actor := range []capability.Actor{b.admin, b.viewer, b.other} {
		if got := staged(t, b, actor, "a"); len(got) != 0 {
			t.Errorf("%s of %s has %v", actor.Role, actor.Workspace, got)
		}
	}
	wantCode(t, b.ws.StageFiles(t.Context(), b.viewer, [][]byte{[]byte("a")}), "role_too_low")
	wantCode(t, b.ws.StageFiles(t.Context(), b.member, [][]byte{make([]byte, capability.MaxFilesTotal), []byte("a")}), "files_too_large")
}

func TestStagedFilesMakeRoomForThoseUsedLast(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var contents []string
	for i := range 8 {
		content := bytes.Repeat([]byte{byte('a' + i)}, capability.MaxFilesTotal)
		contents = append(contents, string(content))
		if i == 6 {
			staged(t, b, b.member, contents[0]) // the oldest, but just asked for
			b.draft(t, b.member, contents[1])
		}
		wantCode(t, b.ws.StageFiles(t.Context(), b.member, [][]byte{content}), "")
	}
	got := staged(t, b, b.member, contents...)
	for i, content := range contents {
		if _, kept := got[content]; kept != (i != 2) {
			t.Errorf("content %d kept: %v", i, kept)
		}
	}
}

// draft keeps a form of the actor's that names the content.
func (b *bundle) draft(t *testing.T, actor capability.Actor, content string) {
	t.Helper()
	b.exec(t, `INSERT INTO drafts (id, workspace, subject, kind, name, form, saved_by)
		VALUES (gen_random_uuid(), $1, $2, 'skill', 'x', json_build_object('files.list', json_build_array($3::text)), gen_random_uuid())`,
		actor.Workspace, actor.Subject, `[{"p":"a.md","d":"`+workspace.ContentDigest([]byte(content))+`"}]`)
}

func TestStagedFilesAreSweptWhenNobodyAsksForThem(t *testing.T) {
	t.Parallel()
	b := setup(t)
	wantCode(t, b.ws.StageFiles(t.Context(), b.member, [][]byte{[]byte("old"), []byte("new")}), "")
	b.exec(t, `UPDATE staged_files SET used_at = now() - interval '31 days' WHERE digest = $1`, workspace.ContentDigest([]byte("old")))
	wantCode(t, b.ws.StageFiles(t.Context(), b.member, [][]byte{[]byte("drafted")}), "")
	b.draft(t, b.member, "drafted")
	b.draft(t, b.admin, "old") // another member's draft keeps nothing
	b.exec(t, `UPDATE staged_files SET used_at = now() - interval '31 days' WHERE digest = $1`, workspace.ContentDigest([]byte("drafted")))
	if n, err := b.ws.SweepStaged(t.Context()); err != nil || n != 1 {
		t.Errorf("swept %d, %v", n, err)
	}
	if diff := cmp.Diff(map[string]string{"new": "new", "drafted": "drafted"}, staged(t, b, b.member, "old", "new", "drafted")); diff != "" {
		t.Error(diff)
	}
}
