package ops

import (
	"cmp"
	"context"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/identity"
	"capstore/internal/interchange"
	"capstore/internal/interchange/intake"
	"capstore/internal/workspace"
)

// importLibrary makes workspace skills of what a file holds. One that is
// refused leaves the others alone; an error that is not about the skill itself
// ends the import.
func (s Services) importLibrary(ctx context.Context, who identity.Principal, in importUpload) (Import, error) {
	if err := capability.May(who.Actor(), capability.ActSkills, capability.Fresh); err != nil {
		return Import{}, err
	}
	found, err := interchange.FromUpload(in.Body.Data, cmp.Or(in.Name, in.Body.Name), interchange.Options{Rules: s.Catalog.Rules()})
	if err != nil {
		return Import{}, err
	}
	out, counts := intake.NewReport(found.Notes), intake.Counts{}
	for _, item := range found.Each() {
		made, err := s.importSkill(ctx, who, item, in.Preview)
		if err != nil {
			return Import{}, err
		}
		counts.Add(made)
		out.Add(made)
	}
	out.Count(counts)
	return *out, nil
}

func (s Services) importSkill(ctx context.Context, who identity.Principal, item interchange.Item, preview bool) (intake.Outcome, error) {
	out := intake.Outcome{Item: item, Status: intake.Ignored}
	if item.Status == interchange.Refused {
		out.Status, out.Fault = intake.Refused, item.Fault
	}
	if item.Status != interchange.Ready {
		return out, nil
	}
	c := item.Content
	spec, isSkill := c.Spec.(*capability.SkillSpec)
	if !isSkill {
		out.Status, out.Fault = intake.Refused, fault.New(fault.Invalid, "not_a_skill", "The library of the workspace holds skills only.").
			Do("Import it into the store.")
		return out, nil
	}
	out.Status, out.ID, out.Digest = intake.Made, capability.IDFromName(c.Name), c.Digest()
	if preview {
		return out, nil
	}
	k, err := s.Workspace.CreateSkill(ctx, who.Actor(), workspace.SkillInput{Name: c.Name, Description: c.Description, Spec: spec})
	if f := fault.From(err); f != nil {
		if f.Kind != fault.Invalid && f.Kind != fault.Conflict {
			return out, err
		}
		out.Status, out.Fault, out.ID, out.Digest = intake.Refused, f, "", ""
		return out, nil
	}
	out.ID = k.ID
	return out, nil
}
