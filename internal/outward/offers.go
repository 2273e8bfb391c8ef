package outward

import (
	"context"
	"slices"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/internal/identity"
	"capstore/internal/interchange"
	"capstore/internal/workspace"
	"capstore/views"
)

// librarySource stands for the workspace's skill library in an address. No
// workspace can be called so.
const librarySource = "_library"

// maxOffers is how many things one list holds.
const maxOffers = 500

// offer is one thing that is offered, in the version that it has now.
type offer struct {
	capability.Ref
	Kind        capability.Kind
	Name        string
	Description string
	Tags        []string
}

// offers lists what the request asks for, of the kinds, in a stable order.
func (s *surface) offers(c *call, fits func(capability.Kind) bool) ([]offer, error) {
	switch of := c.r.URL.Query().Get("of"); of {
	case "", views.OfPublished:
		return s.published(c.r.Context(), c.who, fits)
	case views.OfCarried:
		return s.carried(c.r.Context(), c.who, fits)
	default:
		return nil, fault.New(fault.Malformed, "bad_parameter", "The query parameter of is one of %s, %s.", views.OfPublished, views.OfCarried)
	}
}

func (s *surface) published(ctx context.Context, who identity.Principal, fits func(capability.Kind) bool) ([]offer, error) {
	q := catalog.Query{Scope: catalog.ScopeMine, Sort: catalog.SortCreated, Limit: catalog.MaxLimit}
	for _, k := range capability.Kinds {
		if fits(k) {
			q.Kinds = append(q.Kinds, k)
		}
	}
	var out []offer
	for {
		page, err := s.Catalog.Browse(ctx, who.Actor(), q)
		if err != nil {
			return nil, err
		}
		for _, row := range page.Items {
			out = append(out, offer{capability.Ref{Source: row.Source, ID: row.ID, Version: row.Version}, row.Kind, row.Name, row.Description, row.Tags})
		}
		if q.Cursor = page.NextCursor; q.Cursor == "" || len(out) >= maxOffers {
			return out[:min(len(out), maxOffers)], nil
		}
	}
}

// carried are the capabilities that the caller's agent carries and the skills of
// the library. Hand-wired servers and what is built in are no versions of
// anything, and stay away.
func (s *surface) carried(ctx context.Context, who identity.Principal, fits func(capability.Kind) bool) ([]offer, error) {
	all, err := s.Workspace.Carried(ctx, who.Actor())
	if err != nil {
		return nil, err
	}
	var out []offer
	for _, row := range all.Rows {
		if !row.Enabled || !fits(row.Kind) {
			continue
		}
		if ref, ok := refOf(row); ok {
			out = append(out, offer{ref, row.Kind, row.Name, row.Description, nil})
		}
	}
	slices.SortFunc(out, func(a, b offer) int { return strings.Compare(a.Source+"/"+a.ID, b.Source+"/"+b.ID) })
	return out[:min(len(out), maxOffers)], nil
}

func refOf(row workspace.Row) (capability.Ref, bool) {
	key, ok := capability.ParseKey(string(row.Key))
	switch {
	case !ok:
	case key.Kind == capability.KeyCapability && row.Version != "":
		return row.Ref, true
	case key.Kind == capability.KeySkill:
		return capability.Ref{Source: librarySource, ID: key.ID, Version: workingVersion(row.Digest)}, true
	}
	return capability.Ref{}, false
}

// workingVersion numbers the working copy of a skill by its digest, so that an
// edit is another version. It orders below every stamp.
func workingVersion(digest string) string {
	hex := strings.TrimPrefix(digest, "sha256:")
	return "0.0.0-d" + hex[:min(len(hex), 12)]
}

// contents reads what is offered, in order, a few at a time: what is gone
// meanwhile is left out.
func (s *surface) contents(ctx context.Context, who identity.Principal, offers []offer, yield func(offer, capability.Content) error) error {
	const batch = 8 // a skill may hold 10 MiB
	for part := range slices.Chunk(offers, batch) {
		found, err := s.read(ctx, who, part)
		if err != nil {
			return err
		}
		for _, o := range part {
			content, ok := found[o.Ref]
			if !ok || !servable(content) {
				continue
			}
			if err := yield(o, content); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *surface) read(ctx context.Context, who identity.Principal, part []offer) (map[capability.Ref]capability.Content, error) {
	out := map[capability.Ref]capability.Content{}
	var refs []capability.Ref
	for _, o := range part {
		if o.Source != librarySource {
			refs = append(refs, o.Ref)
			continue
		}
		skill, err := s.Workspace.Skill(ctx, who.Actor(), o.ID)
		if err == nil && workingVersion(skill.Digest) == o.Version {
			out[o.Ref] = skill.Content
		} else if err != nil && !fault.Is(err, fault.NotFound) {
			return nil, err
		}
	}
	if len(refs) == 0 {
		return out, nil
	}
	stock, err := s.Catalog.Contents(ctx, who.Actor(), refs, false)
	if err != nil {
		return nil, err
	}
	for _, v := range stock {
		if v.State != catalog.Blocked {
			out[capability.Ref{Source: v.Source, ID: v.ID, Version: v.Version}] = v.Content
		}
	}
	return out, nil
}

// servable reports whether a plugin of it works for whoever installs it: a
// server that is an image runs where capstore runs it.
func servable(c capability.Content) bool {
	spec, ok := c.Spec.(*capability.MCPSpec)
	return !ok && interchange.InPlugin(c.Spec.Kind()) || ok && spec.URL != ""
}

// one reads the version that the path names. Missing when there is none, when it
// was blocked, and when it was withdrawn and the caller does not carry it.
func (s *surface) one(c *call, ending string) (offer, capability.Content, error) {
	version, ok := strings.CutSuffix(c.r.PathValue("file"), ending)
	o := offer{Ref: capability.Ref{Source: c.r.PathValue("source"), ID: c.r.PathValue("id"), Version: version}}
	if !ok || version == "" || !capability.ValidID(o.ID) {
		return offer{}, capability.Content{}, fault.Missing()
	}
	if o.Source == librarySource {
		found, err := s.read(c.r.Context(), c.who, []offer{o})
		content, ok := found[o.Ref]
		if err == nil && !ok {
			err = fault.Missing()
		}
		return o, content, err
	}
	stock, err := s.Catalog.Contents(c.r.Context(), c.who.Actor(), []capability.Ref{o.Ref}, false)
	if err != nil {
		return offer{}, capability.Content{}, err
	}
	if len(stock) == 0 || stock[0].State == catalog.Blocked {
		return offer{}, capability.Content{}, fault.Missing()
	}
	if stock[0].State == catalog.Withdrawn {
		if err := s.holds(c, o.Ref); err != nil {
			return offer{}, capability.Content{}, err
		}
	}
	o.Kind, o.Name, o.Description = stock[0].Kind, stock[0].Name, stock[0].Description
	return o, stock[0].Content, nil
}

// holds returns nil when the caller's agent carries the version, else missing.
func (s *surface) holds(c *call, ref capability.Ref) error {
	all, err := s.Workspace.Carried(c.r.Context(), c.who.Actor())
	if err != nil {
		return err
	}
	row, ok := all.Find(capability.CapabilityKey(ref.Source, ref.ID))
	if !ok || !row.Enabled || row.Version != ref.Version {
		return fault.Missing()
	}
	return nil
}
