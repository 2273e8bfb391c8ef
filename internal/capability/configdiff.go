package capability

import "capstore/internal/jsonx"

// DiffConfigs compares two versions of an agent config part by part, in the
// alphabetical order of the parts. Adoptions stand under source/id and servers
// under their name; who adopted what when is no difference.
func DiffConfigs(base, candidate AgentConfig) []Change {
	out := Changes{Changes: []Change{}}
	d := newDiffer(&out, nil)
	d.compare("", configTree(base), configTree(candidate))
	return out.Changes
}

// configTree is the config as a value of jsonx.Parse, its adoptions by name.
func configTree(c AgentConfig) any {
	c = c.WithDefaults()
	adopted := map[string]any{}
	for _, a := range c.Capabilities {
		entry, ok := parsed(a).(map[string]any)
		if !ok {
			continue
		}
		for _, key := range []string{"source", "id", "adoptedBy", "adoptedAt"} {
			delete(entry, key)
		}
		adopted[a.Source+"/"+a.ID] = entry
	}
	c.Capabilities = nil
	tree, ok := parsed(c).(map[string]any)
	if !ok {
		return nil
	}
	tree["capabilities"] = adopted
	return tree
}

// parsed is a value of this package as jsonx.Parse reads its JSON.
func parsed(v any) any {
	raw, err := marshal(v)
	if err != nil {
		return nil
	}
	tree, err := jsonx.Parse(raw, len(raw))
	if err != nil {
		return nil
	}
	return tree
}
