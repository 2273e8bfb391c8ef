package web

import (
	"context"
	"net/url"
	"slices"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/interchange"
	"capstore/internal/interchange/intake"
	"capstore/internal/secret"
	"capstore/views"
)

// importPart is how many things one request deals with. A larger import goes
// on by itself, or by a button where there is no script.
const importPart = 200

// decideImport takes what was chosen, and does what the pressed button says:
// look again with what was supplied, show a part of the list, or publish.
func (s *Site) decideImport(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	id := c.R.PathValue("import")
	staged, err := s.Staging.Get(c.R.Context(), c.Actor(), id)
	if err != nil {
		return err
	}
	if staged.State.Publishing {
		return s.goOn(c, staged)
	}
	if staged.State, err = s.choose(c, staged, form); err != nil {
		return err
	}
	if form.Get("op") != "publish" {
		return c.Redirect(views.StagedImportPath(c.Who.Workspace, id, form.Get("show")))
	}
	left, err := s.settle(c, staged)
	if refused := s.mayStart(c, staged); refused != nil {
		err = refused
	}
	if err != nil {
		if status, again := shownAgain(err); again {
			return s.showStaged(c, status, staged, show(c.Locale, form, err))
		}
		return err
	}
	if staged.State, err = s.Staging.Change(c.R.Context(), c.Actor(), id, func(st *intake.State) { st.Publishing, st.Left = true, left }); err != nil {
		return err
	}
	return s.goOn(c, staged)
}

// choose keeps what the form says. It speaks of what it lists alone, which may
// be a part of all that was found.
func (s *Site) choose(c *Ctx, staged intake.Staged, form url.Values) (intake.State, error) {
	left, keep := staged.State.Left, staged.State.Keep
	for _, p := range form["listed"] {
		left = without(left, p)
		if form.Get("op") == "none" || form.Get("op") != "all" && !slices.Contains(form["path"], p) {
			left = append(left, p)
		}
	}
	for _, key := range form["found"] {
		keep = without(keep, key)
		if slices.Contains(form["keep"], key) {
			keep = append(keep, key)
		}
	}
	supply := map[string]interchange.Supply{}
	for p, given := range staged.State.Supply {
		supply[p] = given
	}
	for i, p := range form["want"] {
		supply[p] = interchange.Supply{Image: at(form["image"], i), URL: at(form["url"], i)}
		if supply[p] == (interchange.Supply{}) {
			delete(supply, p)
		}
	}
	return s.Staging.Change(c.R.Context(), c.Actor(), staged.ID, func(st *intake.State) {
		st.Left, st.Keep, st.Supply = left, keep, supply
		if form.Has("visibility") {
			st.Reach, st.SharedWith = capability.Reach(form.Get("visibility")), form["sharedWith"]
		}
	})
}

func without(list []string, one string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == one })
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return ""
}

// chosenReach is the reach that was chosen, as the form holds it.
func chosenReach(st intake.State) url.Values {
	out := url.Values{}
	if st.Reach != "" {
		out.Set("visibility", string(st.Reach))
		out["sharedWith"] = st.SharedWith
	}
	return out
}

// mayStart refuses what would be refused for every single one.
func (s *Site) mayStart(c *Ctx, staged intake.Staged) error {
	if err := capability.May(c.Actor(), capability.ActWrite, capability.Fresh); err != nil {
		return err
	}
	switch st := staged.State; st.Reach {
	case "", capability.ReachPrivate, capability.ReachWorkspace:
		return nil
	case capability.ReachPublic:
		if err := capability.MayPublishPublic(c.Actor(), s.Catalog.Policy()); err != nil {
			return atField("/visibility", err)
		}
		return nil
	case capability.ReachSubset:
		return fault.Fields(c.wrongTargets(st.SharedWith))
	}
	return fault.Fields([]fault.Field{{Path: "/visibility", Code: "not_allowed", Message: "The reach is private, workspace, subset or public."}})
}

// wrongTargets is what is wrong with the workspaces to share with, all at the
// one field that they are chosen in.
func (c *Ctx) wrongTargets(chosen []string) []fault.Field {
	if len(chosen) == 0 {
		return []fault.Field{noTarget()}
	}
	var mine []string
	for _, ws := range c.otherWorkspaces() {
		mine = append(mine, ws.Slug)
	}
	wrong := capability.CheckSharedWith(nil, chosen, mine, c.Who.Workspace)
	for i := range wrong {
		wrong[i].Path = "/sharedWith"
	}
	return wrong
}

// settle fixes what is published: what was chosen of what the page offered. What
// was refused or there already beside something that is left out stays out too,
// since nobody was shown that it would be made.
func (s *Site) settle(c *Ctx, staged intake.Staged) (left []string, err error) {
	offered, chosen := map[string]bool{}, false
	if err := s.forecast(c, staged, nil, func(o intake.Outcome) {
		if o.Status == intake.Made {
			offered[o.Item.Path] = true
			chosen = chosen || !slices.Contains(staged.State.Left, o.Item.Path)
		}
	}); err != nil {
		return nil, err
	}
	if !chosen {
		return nil, fault.Fields([]fault.Field{{Path: "/path", Code: "none_chosen", Message: c.T("import.none_chosen")}})
	}
	left = slices.Clone(staged.State.Left)
	err = s.forecast(c, staged, func(p string) bool { return !slices.Contains(staged.State.Left, p) }, func(o intake.Outcome) {
		if o.Status == intake.Made && !offered[o.Item.Path] {
			left = append(left, o.Item.Path)
		}
	})
	return left, err
}

func (s *Site) forecast(c *Ctx, staged intake.Staged, only func(string) bool, each func(intake.Outcome)) error {
	found, err := s.readStaged(staged)
	if err != nil {
		return err
	}
	_, err = intake.Run(c.R.Context(), s.Catalog, c.Actor(), found, intake.Options{Preview: true, Only: only}, each)
	return err
}

// goOn deals with the next part of the import, and leads to the page that says
// how far it is.
func (s *Site) goOn(c *Ctx, staged intake.Staged) error {
	st := staged.State
	if !st.Over {
		if err := s.nextPart(c, staged); err != nil {
			return err
		}
	}
	return c.Redirect(views.StagedImportPath(c.Who.Workspace, staged.ID, ""))
}

func (s *Site) nextPart(c *Ctx, staged intake.Staged) error {
	found, err := s.readStaged(staged)
	if err != nil {
		return err
	}
	st, told := staged.State, map[string]bool{}
	for _, r := range st.Results {
		told[r.Path] = true
	}
	over, results := false, []intake.Result{}
	_, err = intake.Run(c.R.Context(), s.Catalog, c.Actor(), found, intake.Options{
		Reach: st.Reach, SharedWith: st.SharedWith, From: from(staged), Limit: importPart,
		Only:     func(p string) bool { return !slices.Contains(st.Left, p) },
		Done:     func(p string) bool { return told[p] },
		Progress: func(done, of int) { over, st.Done, st.Of = done == of, done, of },
	}, func(o intake.Outcome) {
		r := intake.ResultOf(o)
		r.Secrets = s.keepSecrets(c.R.Context(), c, o, st.Keep)
		results = append(results, r)
	})
	if err != nil {
		return err
	}
	_, err = s.Staging.Change(c.R.Context(), c.Actor(), staged.ID, func(now *intake.State) {
		now.Tell(results)
		now.Done, now.Of, now.Over = max(st.Done, now.Done), st.Of, now.Over || over
	})
	return err
}

func from(staged intake.Staged) string {
	if staged.Origin != "" {
		return staged.Origin
	}
	return staged.Name()
}

// keepSecrets stores the literal secrets that were chosen, of what was made.
func (s *Site) keepSecrets(ctx context.Context, c *Ctx, o intake.Outcome, keep []string) []intake.KeptSecret {
	if o.Status != intake.Made && o.Status != intake.Unchanged {
		return nil
	}
	var out []intake.KeptSecret
	for _, found := range o.Item.Secrets {
		if !slices.Contains(keep, intake.SecretKey(o.Item.Path, found.Name)) {
			continue
		}
		_, err := s.Secrets.Set(ctx, c.Actor(), secret.NewSecret{Name: found.Name, Value: secret.NewValue(found.Value), New: true})
		kept := intake.KeptSecret{Name: found.Name}
		if err != nil {
			kept.Fault = fault.From(err)
		}
		out = append(out, kept)
	}
	return out
}

// importResults are the outcomes as the page shows them: what needs a person
// first.
func (c *Ctx) importResults(st intake.State) *views.ImportResults {
	out := &views.ImportResults{Over: st.Over, Done: st.Done, Of: st.Of}
	var counts intake.Counts
	for _, r := range st.Results {
		counts.Add(intake.Outcome{Status: r.Status})
		out.Rows = append(out.Rows, c.importResult(r))
	}
	out.Found, out.Made, out.Unchanged, out.Refused, out.Ignored = counts.Found, counts.Made, counts.Unchanged, counts.Refused, counts.Ignored
	order := []intake.Status{intake.Refused, intake.Made, intake.Unchanged, intake.Ignored}
	slices.SortStableFunc(out.Rows, func(a, b views.ImportResult) int {
		return slices.Index(order, intake.Status(a.Status)) - slices.Index(order, intake.Status(b.Status))
	})
	return out
}

func (c *Ctx) importResult(r intake.Result) views.ImportResult {
	out := views.ImportResult{Path: r.Path, Status: string(r.Status), Kind: string(r.Kind), Name: r.Name, Follows: r.Follows}
	switch {
	case r.Fault != nil && len(r.Fault.Fields) > 0:
		for _, f := range r.Fault.Fields {
			out.Text += views.FieldText(c.Locale, f) + " "
		}
	case r.Fault != nil:
		out.Text = c.refusal(r.Fault)
	case r.Why != nil:
		out.Text = c.importNotes(r.Path, []interchange.Note{*r.Why})[0].Text
	}
	if r.Status == intake.Made || r.Status == intake.Unchanged {
		out.Ref = c.Who.Workspace + "/" + r.ID + "@" + r.Version
		out.Href = views.CapabilityPath(c.Who.Workspace, c.Who.Workspace, r.ID)
	}
	for _, kept := range r.Secrets {
		text := c.T("import.secret_kept", "name", kept.Name)
		if kept.Fault != nil {
			text = c.T("import.secret_not_kept", "name", kept.Name, "why", c.refusal(kept.Fault))
		}
		out.Secrets = append(out.Secrets, text)
	}
	return out
}
