package outward

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/internal/interchange"
)

// What the MCP registry calls things, since clients read it.
const (
	officialMeta     = "io.modelcontextprotocol.registry/official"
	statusActive     = "active"
	statusDeprecated = "deprecated"
	statusDeleted    = "deleted"

	defaultServers = 30
	maxServers     = 100
	// maxWalk is how many pages of the store a request reads at most to fill
	// one of its own.
	maxWalk = 5
)

type serverEntry struct {
	Server json.RawMessage `json:"server"`
	Meta   map[string]any  `json:"_meta"`
}

type official struct {
	Status          string    `json:"status"`
	StatusMessage   string    `json:"statusMessage,omitempty"`
	StatusChangedAt time.Time `json:"statusChangedAt"`
	PublishedAt     time.Time `json:"publishedAt"`
	UpdatedAt       time.Time `json:"updatedAt"`
	IsLatest        bool      `json:"isLatest"`
}

type serverPage struct {
	Servers  []serverEntry  `json:"servers"`
	Metadata serverMetadata `json:"metadata"`
}

type serverMetadata struct {
	NextCursor string `json:"nextCursor,omitempty"`
	Count      int    `json:"count"`
}

// wanted is what a list of servers is asked for.
type wanted struct {
	query   catalog.Query
	version string // "" for all, "latest", or one
	since   time.Time
	deleted bool
}

func (c *call) wanted() (wanted, error) {
	q := c.r.URL.Query()
	w := wanted{version: q.Get("version"), query: catalog.Query{
		Kinds: []capability.Kind{capability.KindMCP}, Sort: catalog.SortCreated, Limit: defaultServers, Cursor: q.Get("cursor"),
	}}
	bad := func(name, what string) (wanted, error) {
		return w, fault.New(fault.Malformed, "bad_parameter", "The query parameter %s is %s.", name, what)
	}
	if s := q.Get("limit"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > maxServers {
			return bad("limit", fmt.Sprintf("a whole number from 1 to %d", maxServers))
		}
		w.query.Limit = n
	}
	if s := q.Get("updated_since"); s != "" {
		var err error
		if w.since, err = time.Parse(time.RFC3339, s); err != nil {
			return bad("updated_since", "a time such as 2026-08-07T13:15:04Z")
		}
	}
	switch s := q.Get("include_deleted"); s {
	case "", "false":
	case "true":
		w.deleted = true
	default:
		return bad("include_deleted", "true or false")
	}
	// The registry looks for a part of the name; the namespace is everybody's.
	search := q.Get("search")
	if _, id, ok := strings.Cut(search, "/"); ok {
		search = id
	}
	w.query.Q = search
	return w, nil
}

// listServers answers a page of the servers that the caller may see, each with
// its versions. A walk neither skips nor repeats what was there throughout.
func (s *surface) listServers(c *call) error {
	w, err := c.wanted()
	if err != nil {
		return err
	}
	out := serverPage{Servers: []serverEntry{}}
	for range maxWalk {
		next, err := s.fill(c, &w, &out)
		if err != nil {
			return err
		}
		out.Metadata.NextCursor, w.query.Cursor = next, next
		if next == "" || len(out.Servers) > 0 {
			break
		}
	}
	out.Metadata.Count = len(out.Servers)
	return c.send(out)
}

// fill adds the entries of one page of the store, cut where they would be more
// than were asked for, and returns where to go on.
func (s *surface) fill(c *call, w *wanted, out *serverPage) (string, error) {
	page, err := s.Catalog.Browse(c.r.Context(), c.who.Actor(), w.query)
	if err != nil || len(page.Items) == 0 {
		return "", err
	}
	refs := make([]capability.Ref, len(page.Items))
	for i, row := range page.Items {
		refs[i] = capability.Ref{Source: row.Source, ID: row.ID}
		if w.version != "latest" {
			refs[i].Version = w.version
		}
	}
	stock, err := s.Catalog.Contents(c.r.Context(), c.who.Actor(), refs, w.version == "latest")
	if err != nil {
		return "", err
	}
	lines := map[capability.Ref][]serverEntry{}
	for _, v := range stock {
		if !w.takes(v) {
			continue
		}
		e, err := c.entry(v)
		if err != nil {
			return "", err
		}
		ref := capability.Ref{Source: v.Source, ID: v.ID}
		lines[ref] = append(lines[ref], e)
	}
	for i, row := range page.Items {
		line := lines[capability.Ref{Source: row.Source, ID: row.ID}]
		if i > 0 && len(out.Servers)+len(line) > w.query.Limit {
			// The rest is for the next page, which begins where one of this many
			// capabilities ends.
			short := w.query
			short.Limit = i
			page, err = s.Catalog.Browse(c.r.Context(), c.who.Actor(), short)
			return page.NextCursor, err
		}
		out.Servers = append(out.Servers, line...)
	}
	return page.NextCursor, nil
}

func (w wanted) takes(v catalog.Stocked) bool {
	switch {
	case v.Kind != capability.KindMCP: // a line may have been another kind once
		return false
	case v.State != catalog.Live && !w.deleted:
		return false
	}
	return w.since.IsZero() || v.UpdatedAt.After(w.since)
}

// entry tells a version as a registry does.
func (c *call) entry(v catalog.Stocked) (serverEntry, error) {
	doc, err := interchange.ExportServerJSON(v.Content, interchange.ServerName{Name: c.names.name(v.Source, v.ID), Version: v.Version})
	if err != nil {
		return serverEntry{}, fmt.Errorf("outward: %s/%s@%s: %w", v.Source, v.ID, v.Version, err)
	}
	o := official{Status: statusActive, StatusChangedAt: v.CreatedAt, PublishedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt, IsLatest: v.Latest}
	switch {
	case v.State != catalog.Live:
		o.Status, o.StatusMessage, o.StatusChangedAt = statusDeleted, v.BlockedReason, v.UpdatedAt
	case v.Deprecated != nil:
		o.Status, o.StatusMessage, o.StatusChangedAt = statusDeprecated, v.Deprecated.Note, v.UpdatedAt
		if next := v.Deprecated.Successor; next != "" {
			source, id, _ := strings.Cut(next, "/")
			o.StatusMessage = strings.TrimSpace(o.StatusMessage + " Use " + c.names.name(source, id) + " instead.")
		}
	}
	return serverEntry{Server: doc, Meta: map[string]any{officialMeta: o}}, nil
}

// line reads the versions of the server that the path names, one of them where
// it names that too. Missing when there is none that the caller may see.
func (s *surface) line(c *call, version string) ([]serverEntry, error) {
	source, id, ok := c.names.parse(c.r.PathValue("name"))
	if !ok {
		return nil, fault.Missing()
	}
	ref := capability.Ref{Source: source, ID: id}
	if version != "latest" {
		ref.Version = version
	}
	stock, err := s.Catalog.Contents(c.r.Context(), c.who.Actor(), []capability.Ref{ref}, version == "latest")
	if err != nil {
		return nil, err
	}
	w := wanted{deleted: c.r.URL.Query().Get("include_deleted") == "true"}
	out := []serverEntry{}
	for _, v := range stock {
		if !w.takes(v) {
			continue
		}
		e, err := c.entry(v)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	if len(out) == 0 {
		return nil, fault.Missing()
	}
	return out, nil
}

func (s *surface) serverVersions(c *call) error {
	entries, err := s.line(c, "")
	if err != nil {
		return err
	}
	return c.send(serverPage{Servers: entries, Metadata: serverMetadata{Count: len(entries)}})
}

func (s *surface) serverVersion(c *call) error {
	entries, err := s.line(c, c.r.PathValue("version"))
	if err != nil {
		return err
	}
	return c.send(entries[0])
}
