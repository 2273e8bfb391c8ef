package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"

	"capstore/internal/capability"
	"capstore/internal/workspace"
)

// A mark is the digest of all that a turn can see of one entry: identity,
// usability, content, domains and the consumer's configuration. What changes
// without being seen (counts, times, the wording of a failure, who adopted)
// is not in it.

// markLength is how much of a SHA-256 a mark keeps: 128 bits.
const markLength = 32

func markOf(m *capability.Mark, e *Entry) string {
	m.Text(string(e.Kind), string(e.Row.Key), e.Row.Name, string(e.Origin), string(e.Standing), e.Reason(),
		string(e.Row.ShadowedBy), e.Row.Version, e.Row.Digest, e.Row.Description)
	m.List(e.Serves)
	m.Flags(e.Always, e.Asked)
	m.Grant(&e.Row.Grant)
	m.Number(len(e.Tools))
	for i := range e.Tools {
		t := &e.Tools[i]
		m.Text(t.Name, t.Raw, t.Title, t.Description, string(t.Schema))
		m.Flags(t.Write, t.Guarded, t.Allowed, t.Refused == "")
	}
	return m.Sum()[:markLength]
}

// asideOf is the digest of what people are told of the rows and no turn sees:
// what is missing or unmet, who chose, what there is to update to. It moves no
// world, and decides whether a snapshot is still the one to show.
func asideOf(carried workspace.Carried) string {
	m := make(capability.Mark, 0, 4096)
	m.Text(strconv.Itoa(carried.ConfigVersion))
	for i := range carried.Rows {
		row := &carried.Rows[i]
		m.Text(row.LatestVisible, row.BlockedReason)
		m.Flags(row.Wanted, row.Override != nil, row.Override != nil && *row.Override)
		m.List(row.Unmet)
		m.List(row.Tags)
		m.Number(len(row.Missing))
		for _, s := range row.Missing {
			m.Text(s.Name)
		}
		for _, s := range row.Unset {
			m.Text(s.Name)
		}
	}
	return m.Sum()
}

// digests marks the entries and returns the digest of what a turn can see and
// that of everything. What is off is not seen: switching it on shows it, and
// that somebody published another thing that is off moves no world.
func digests(config capability.AgentConfig, aside string, entries []Entry) (seen, full string) {
	m := make(capability.Mark, 0, 4096)
	visible, all := sha256.New(), sha256.New()
	m.Text(string(config.PermissionMode), string(config.Slice))
	if len(config.Channels) > 0 {
		channels, _ := json.Marshal(config.Channels) // plain data encodes
		m.Text(string(channels))
	}
	head := m.Sum()
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
