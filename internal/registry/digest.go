package registry

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"capstore/internal/capability"
	"capstore/internal/workspace"
)

// A mark is the digest of all that a turn can see of one entry: identity,
// usability, content, domains and the consumer's configuration. What changes
// without being seen (counts, times, the wording of a failure, who adopted)
// is not in it.

// marker collects the parts of a mark, each preceded by its length so that
// parts cannot run into one another.
type marker []byte

func (m *marker) add(parts ...string) {
	for _, p := range parts {
		*m = binary.AppendUvarint(*m, uint64(len(p)))
		*m = append(*m, p...)
	}
}

func (m *marker) flags(on ...bool) {
	var b uint64
	for i, f := range on {
		if f {
			b |= 1 << i
		}
	}
	*m = binary.AppendUvarint(*m, b)
}

func (m *marker) list(list []string) {
	*m = binary.AppendUvarint(*m, uint64(len(list)))
	m.add(list...)
}

func addMap[V ~string](m *marker, values map[string]V) {
	*m = binary.AppendUvarint(*m, uint64(len(values)))
	for _, k := range slices.Sorted(maps.Keys(values)) {
		m.add(k, string(values[k]))
	}
}

func (m *marker) grant(g capability.Adoption) {
	addMap(m, g.SecretBindings)
	addMap(m, g.Settings)
	m.list(g.Egress)
	addMap(m, g.ToolClasses)
	m.flags(g.EnableWrite)
	m.list(g.WriteTools)
	m.add(g.ConsentDigest)
}

func (m *marker) tools(tools []Tool) {
	*m = binary.AppendUvarint(*m, uint64(len(tools)))
	for i := range tools {
		t := &tools[i]
		m.add(t.Name, t.Raw, t.Title, t.Description, string(t.Schema))
		m.flags(t.Write, t.Guarded, t.Allowed, t.Refused == "")
	}
}

// sum is the mark of what was collected, which starts anew.
func (m *marker) sum() string {
	digest := sha256.Sum256(*m)
	*m = (*m)[:0]
	return hex.EncodeToString(digest[:16])
}

func markOf(m *marker, e *Entry) string {
	m.add(string(e.Kind), string(e.Row.Key), e.Row.Name, string(e.Origin), string(e.Standing), e.Reason(),
		string(e.Row.ShadowedBy), e.Row.Version, e.Row.Digest, e.Row.Description)
	m.list(e.Serves)
	m.flags(e.Always, e.Asked)
	m.grant(e.Row.Grant)
	m.tools(e.Tools)
	return m.sum()
}

// asideOf is the digest of what people are told of the rows and no turn sees:
// what is missing or unmet, who chose, what there is to update to. It moves no
// world, and decides whether a snapshot is still the one to show.
func asideOf(carried workspace.Carried) string {
	m := make(marker, 0, 4096)
	m.add(strconv.Itoa(carried.ConfigVersion))
	for i := range carried.Rows {
		row := &carried.Rows[i]
		m.add(row.LatestVisible, row.BlockedReason)
		m.flags(row.Wanted, row.Override != nil, row.Override != nil && *row.Override)
		m.list(row.Unmet)
		m.list(row.Tags)
		for _, s := range row.Missing {
			m.add(s.Name)
		}
		for _, s := range row.Unset {
			m.add(s.Name)
		}
	}
	return m.sum()
}

// digests marks the entries and returns the digest of what a turn can see and
// that of everything. What is off is not seen: switching it on shows it, and
// that somebody published another thing that is off moves no world.
func digests(config capability.AgentConfig, aside string, entries []Entry) (seen, full string) {
	m := make(marker, 0, 4096)
	visible, all := sha256.New(), sha256.New()
	m.add(string(config.PermissionMode), string(config.Slice))
	if len(config.Channels) > 0 {
		channels, _ := json.Marshal(config.Channels) // plain data encodes
		m.add(string(channels))
	}
	head := m.sum()
	_, _ = visible.Write([]byte(head)) // a hash never fails
	_, _ = all.Write([]byte(head + aside))
	for i := range entries {
		e := &entries[i]
		if e.mark == "" {
			e.mark = markOf(&m, e)
		}
		_, _ = all.Write([]byte(e.mark + e.Trouble))
		if e.Standing != Off {
			_, _ = visible.Write([]byte(e.mark))
		}
	}
	return "sha256:" + hex.EncodeToString(visible.Sum(nil)), hex.EncodeToString(all.Sum(nil))
}
