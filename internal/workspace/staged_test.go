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
	for i := range 7 {
		content := bytes.Repeat([]byte{byte('a' + i)}, capability.MaxFilesTotal)
		contents = append(contents, string(content))
		if i == 6 {
			staged(t, b, b.member, contents[0]) // the oldest, but just asked for
		}
		wantCode(t, b.ws.StageFiles(t.Context(), b.member, [][]byte{content}), "")
	}
	got := staged(t, b, b.member, contents...)
	for i, content := range contents {
		if _, kept := got[content]; kept != (i != 1) {
			t.Errorf("content %d kept: %v", i, kept)
		}
	}
}

func TestStagedFilesAreSweptWhenNobodyAsksForThem(t *testing.T) {
	t.Parallel()
	b := setup(t)
	wantCode(t, b.ws.StageFiles(t.Context(), b.member, [][]byte{[]byte("old"), []byte("new")}), "")
	b.exec(t, `UPDATE staged_files SET used_at = now() - interval '31 days' WHERE digest = $1`, workspace.ContentDigest([]byte("old")))
	if n, err := b.ws.SweepStaged(t.Context()); err != nil || n != 1 {
		t.Errorf("swept %d, %v", n, err)
	}
	if diff := cmp.Diff(map[string]string{"new": "new"}, staged(t, b, b.member, "old", "new")); diff != "" {
		t.Error(diff)
	}
}
