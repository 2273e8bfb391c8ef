package intake

import (
	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
)

// claims are the ids and names that this import has given out. Two items that
// want one id are told apart before either is published, whatever the order in
// which they are written.
type claims struct {
	ids   map[string]*claim
	names map[string]string // kind and folded name: the id that has it
}

// claim is one id with what was imported under it so far.
type claim struct {
	path     string // of the first
	digest   string
	version  string            // of the newest
	explicit bool              // the items say their versions themselves
	versions map[string]string // the digest of each, when explicit
}

// decide settles what becomes of an item that could be published, by how things
// stand in the store and by what came before it in this import.
func (c *claims) decide(e *entry, f catalog.Forecast) {
	e.ID, e.Digest = f.ID, f.Digest
	if f.Fault != nil {
		e.refuse(f.Fault)
		return
	}
	e.Version, e.Follows, e.Effects, e.fresh = f.Version, f.Base, f.Effects, f.New
	first := c.ids[f.ID]
	if first == nil {
		if other := c.nameOf(e); other != nil {
			e.refuse(twin(f.ID, other.path))
			return
		}
		c.settle(e, f.Exists)
		c.add(e)
		return
	}
	c.follow(e, first, f)
}

// follow decides on a further item under one id: another version of a line, or
// a twin of the first.
func (c *claims) follow(e *entry, first *claim, f catalog.Forecast) {
	want := e.pub.Version
	switch digest, taken := first.versions[want]; {
	case want == "" || !first.explicit:
		digest, taken = first.digest, true
		fallthrough
	case taken:
		if digest != e.Digest {
			e.refuse(twin(f.ID, first.path))
			return
		}
		e.Version = first.version
		if want != "" {
			e.Version = want
		}
		c.settle(e, true)
	default:
		// Equal content under another number is news here: the versions between
		// the two have yet to be published.
		exists := f.Exists && f.Version == want
		if !exists {
			e.Version, e.Follows, e.Effects = want, first.version, nil
		}
		c.settle(e, exists)
		c.add(e)
	}
}

func (c *claims) settle(e *entry, exists bool) {
	e.Status = Made
	if exists {
		e.Status, e.publish, e.Effects = Unchanged, false, nil
	}
}

func (c *claims) add(e *entry) {
	k := nameKey(e)
	if c.names[k] == "" {
		c.names[k] = e.ID
	}
	held := c.ids[e.ID]
	if held == nil {
		held = &claim{path: e.Item.Path, digest: e.Digest, explicit: e.pub.Version != ""}
		c.ids[e.ID] = held
	}
	held.version = e.Version
	if held.explicit {
		if held.versions == nil {
			held.versions = map[string]string{}
		}
		held.versions[e.pub.Version] = e.Digest
	}
}

// nameOf finds another id of this import whose name would be confused with the
// item's.
func (c *claims) nameOf(e *entry) *claim {
	if id := c.names[nameKey(e)]; id != "" && id != e.ID {
		return c.ids[id]
	}
	return nil
}

func nameKey(e *entry) string {
	return string(e.Item.Content.Spec.Kind()) + " " + capability.FoldName(e.Item.Content.Name)
}

func twin(id, path string) *fault.Fault {
	return fault.New(fault.Conflict, "twin_in_import", "%q in the same import has this name too, and other content.", path).
		With("id", id).With("path", path).Do("Rename one of the two and import it again.")
}
