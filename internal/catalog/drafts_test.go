package catalog_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
)

func draftOf(kind capability.Kind, name string) catalog.Draft {
	return catalog.Draft{ID: uuid.New(), SavedBy: uuid.New(), Kind: kind, Name: name, Form: json.RawMessage(`{"name":["` + name + `"]}`)}
}

func TestADraftIsItsWritersAlone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	saved, err := b.store.SaveDraft(t.Context(), b.author, draftOf(capability.KindCode, "one"))
	wantCode(t, err, "")
	for _, stranger := range []capability.Actor{b.admin, b.viewer, b.other, in(b.author, "globex")} {
		_, err := b.store.Draft(t.Context(), stranger, saved.ID)
		wantCode(t, err, "not_found")
		wantCode(t, b.store.DiscardDraft(t.Context(), stranger, saved.ID), "not_found")
		if list, err := b.store.Drafts(t.Context(), stranger); err != nil || len(list) != 0 {
			t.Errorf("%v sees %v, %v", stranger, list, err)
		}
	}
	_, err = b.store.SaveDraft(t.Context(), b.admin, saved)
	wantCode(t, err, "not_found")
	_, err = b.store.SaveDraft(t.Context(), b.viewer, draftOf(capability.KindCode, "x"))
	if !fault.Is(err, fault.Denied) {
		t.Errorf("a viewer saves one: %v", err)
	}
	got, err := b.store.Draft(t.Context(), b.author, saved.ID)
	wantCode(t, err, "")
	if diff := cmp.Diff(saved, got, cmpopts.IgnoreFields(catalog.Draft{}, "SavedBy")); diff != "" {
		t.Errorf("(-saved +got):\n%s", diff)
	}
	wantCode(t, b.store.DiscardDraft(t.Context(), b.author, saved.ID), "")
	wantCode(t, b.store.DiscardDraft(t.Context(), b.author, saved.ID), "not_found")
	saved.Name = "again"
	_, err = b.store.SaveDraft(t.Context(), b.author, saved)
	wantCode(t, err, "not_found")
}

func TestOfTwoTabsOneSaves(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first, err := b.store.SaveDraft(t.Context(), b.author, draftOf(capability.KindHook, "one"))
	wantCode(t, err, "")
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for i := range errs {
		tab := first
		tab.SavedBy = uuid.New()
		wg.Go(func() { _, errs[i] = b.store.SaveDraft(t.Context(), b.author, tab) })
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		} else {
			wantCode(t, err, "draft_changed")
		}
	}
	if won != 1 {
		t.Errorf("%d saved on top of one revision", won)
	}
	again, err := b.store.SaveDraft(t.Context(), b.author, draftOf(capability.KindHook, "two"))
	wantCode(t, err, "")
	lost := again
	lost.Revision = 0 // the answer never came
	for range 2 {
		_, err = b.store.SaveDraft(t.Context(), b.author, lost)
		wantCode(t, err, "")
	}
	lost.SavedBy = uuid.New()
	_, err = b.store.SaveDraft(t.Context(), b.author, lost)
	wantCode(t, err, "draft_changed")
	other := first
	other.Kind, other.Revision = capability.KindCode, 2
	_, err = b.store.SaveDraft(t.Context(), b.author, other)
	wantCode(t, err, "not_found")
}

func TestDraftsAreBounded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var wg sync.WaitGroup
	errs := make([]error, catalog.MaxDrafts+5)
	for i := range errs {
		wg.Go(func() {
			_, errs[i] = b.store.SaveDraft(t.Context(), b.author, draftOf(capability.KindCommand, ""))
		})
	}
	wg.Wait()
	refused := 0
	for _, err := range errs {
		if err != nil {
			wantCode(t, err, "too_many_drafts")
			refused++
		}
	}
	list, err := b.store.Drafts(t.Context(), b.author)
	if err != nil || len(list) != catalog.MaxDrafts || refused != 5 {
		t.Errorf("%d kept, %d refused, %v", len(list), refused, err)
	}
	_, err = b.store.SaveDraft(t.Context(), in(b.author, "globex"), draftOf(capability.KindCommand, ""))
	wantCode(t, err, "")
	big := draftOf(capability.KindCode, strings.Repeat("x", catalog.MaxDraft))
	_, err = b.store.SaveDraft(t.Context(), b.other, big)
	wantCode(t, err, "draft_too_large")
}

func TestPublishingEndsTheDraft(t *testing.T) {
	t.Parallel()
	b := setup(t)
	saved, err := b.store.SaveDraft(t.Context(), b.author, draftOf(capability.KindCode, "one"))
	wantCode(t, err, "")
	bad := code("one", "1")
	bad.Draft, bad.Version = saved.ID, "no version"
	_, err = b.store.Publish(t.Context(), b.author, bad)
	if !fault.Is(err, fault.Invalid) {
		t.Fatal(err)
	}
	_, err = b.store.Draft(t.Context(), b.author, saved.ID)
	wantCode(t, err, "")
	good := code("one", "1")
	good.Draft = saved.ID
	b.publish(t, b.admin, code("two", "1"))
	b.publish(t, b.author, good)
	_, err = b.store.Draft(t.Context(), b.author, saved.ID)
	wantCode(t, err, "not_found")
	foreign, err := b.store.SaveDraft(t.Context(), b.author, draftOf(capability.KindCode, "two"))
	wantCode(t, err, "")
	theirs := code("three", "1")
	theirs.Draft = foreign.ID
	b.publish(t, b.admin, theirs)
	_, err = b.store.Draft(t.Context(), b.author, foreign.ID)
	wantCode(t, err, "")
	_, err = b.store.Draft(t.Context(), b.author, uuid.New())
	wantCode(t, err, "not_found")
}
