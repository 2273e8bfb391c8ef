package outward

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/interchange"
	"capstore/views"
)

// maxFolder is how large a marketplace may be that is sent as one archive, in
// bytes.
const maxFolder = 64 << 20

type market struct {
	Name     string            `json:"name"`
	Owner    map[string]string `json:"owner"`
	Metadata map[string]string `json:"metadata"`
	Plugins  []marketPlugin    `json:"plugins"`
}

type marketPlugin struct {
	Name        string   `json:"name"`
	DisplayName string   `json:"displayName,omitempty"`
	Source      any      `json:"source"`
	Description string   `json:"description"`
	Version     string   `json:"version"`
	Category    string   `json:"category"`
	Keywords    []string `json:"keywords,omitempty"`
}

type archiveSource struct {
	Source string `json:"source"`
	URL    string `json:"url"`
	SHA256 string `json:"sha256"`
}

func (c *call) market() market {
	of, what := c.r.URL.Query().Get("of"), "What "+c.who.WorkspaceName+" publishes."
	if of == views.OfCarried {
		what = "What your agent in " + c.who.WorkspaceName + " carries."
	}
	return market{Name: views.MarketplaceName(c.who.Workspace, of), Owner: map[string]string{"name": c.who.WorkspaceName}, Metadata: map[string]string{"description": what}, Plugins: []marketPlugin{}}
}

// pluginName is the name of a capability's plugin in the workspace: its id, with
// its source before it where that is another one's.
func (c *call) pluginName(o offer) string {
	switch o.Source {
	case c.who.Workspace, librarySource:
		return interchange.PluginName(o.ID)
	case capability.FirstPartyOwner:
		return interchange.PluginName("capstore-" + o.ID)
	}
	return interchange.PluginName(o.Source + "-" + o.ID)
}

// listed tells an offer as an entry of a marketplace. Two that would have one
// name are told apart by a number.
func (m *market) listed(c *call, o offer, source func(name string) any) {
	name := c.pluginName(o)
	for n, base := 2, name; slices.ContainsFunc(m.Plugins, func(p marketPlugin) bool { return p.Name == name }); n++ {
		name = base + "-" + strconv.Itoa(n)
	}
	m.Plugins = append(m.Plugins, marketPlugin{
		Name: name, DisplayName: o.Name, Source: source(name), Description: o.Description, Version: o.Version, Category: string(o.Kind), Keywords: o.Tags,
	})
}

// marketplace answers a marketplace whose plugins are archives of this server.
func (s *surface) marketplace(c *call) error {
	offers, err := s.offers(c, interchange.InPlugin)
	if err != nil {
		return err
	}
	known, err := s.learn(c, "plugin", offers, func(o offer, content capability.Content) ([]byte, error) { return c.pack(o, content) })
	if err != nil {
		return err
	}
	m := c.market()
	for _, o := range offers {
		if known[o.Ref] == "" {
			continue
		}
		m.listed(c, o, func(string) any {
			return archiveSource{"archive", c.origin + views.PluginArchivePath(c.who.Workspace, o.Source, o.ID, o.Version), known[o.Ref]}
		})
	}
	return c.send(m)
}

// learn gives the digests of the archives of what is offered, and packs only
// what was not packed before: a version never changes. What cannot be served has
// none.
func (s *surface) learn(c *call, sort string, offers []offer, pack func(offer, capability.Content) ([]byte, error)) (map[capability.Ref]string, error) {
	known := map[capability.Ref]string{}
	key := func(o offer) string {
		return strings.Join([]string{sort, c.who.Workspace, o.Source, o.ID, o.Version}, "/")
	}
	var unknown []offer
	for _, o := range offers {
		if sum, ok := s.packed.get(key(o)); ok {
			known[o.Ref] = sum
			continue
		}
		unknown = append(unknown, o)
	}
	err := s.build(c, func() error {
		return s.contents(c.r.Context(), c.who, unknown, func(o offer, content capability.Content) error {
			data, err := pack(o, content)
			if err != nil {
				return err
			}
			sum := sha256.Sum256(data)
			known[o.Ref] = hex.EncodeToString(sum[:])
			s.packed.put(key(o), known[o.Ref])
			return nil
		})
	})
	return known, err
}

// build runs what holds contents in memory, a few at a time. It is a Limited
// fault where too many wait for it already.
func (s *surface) build(c *call, run func() error) error {
	select {
	case s.waiting <- struct{}{}:
		defer func() { <-s.waiting }()
	default:
		return fault.New(fault.Limited, "too_many_archives", "Too many archives are being made just now.").
			With("retryAfterSec", 5).Do("Ask again in some seconds.")
	}
	select {
	case s.building <- struct{}{}:
		defer func() { <-s.building }()
		return run()
	case <-c.r.Context().Done():
		return c.r.Context().Err()
	}
}

// pack makes the archive of a plugin. A version never changes, and so neither do
// the bytes: nothing in it is taken from what may.
func (c *call) pack(o offer, content capability.Content) ([]byte, error) {
	var b bytes.Buffer
	if err := interchange.ExportPluginZip(&b, c.pluginName(o), []capability.Content{content}, c.meta(o, content)); err != nil {
		return nil, fmt.Errorf("outward: %w", err)
	}
	return b.Bytes(), nil
}

func (c *call) meta(o offer, content capability.Content) interchange.PluginMeta {
	author := o.Source
	switch o.Source {
	case librarySource:
		author = c.who.Workspace
	case capability.FirstPartyOwner:
		author = "capstore"
	}
	return interchange.PluginMeta{DisplayName: content.Name, Version: o.Version, Description: content.Description, Author: author}
}

// plugin answers the archive of one plugin.
func (s *surface) plugin(c *call) error {
	o, content, err := s.one(c, ".zip")
	if err != nil {
		return err
	}
	if !servable(content) {
		return fault.Missing()
	}
	tag := c.pluginName(o) + "." + strings.TrimPrefix(content.Digest(), "sha256:")[:32]
	return c.answer("application/zip", tag, c.pluginName(o)+"-"+o.Version+".zip", func() (data []byte, err error) {
		err = s.build(c, func() error {
			data, err = c.pack(o, content)
			return err
		})
		return data, err
	})
}

// marketplaceFolder answers the whole marketplace as a folder in an archive, for
// a host that takes folders and no addresses.
func (s *surface) marketplaceFolder(c *call) error {
	offers, err := s.offers(c, interchange.InPlugin)
	if err != nil {
		return err
	}
	// What is offered says all: of a version never another byte is packed.
	list, err := json.Marshal([]any{c.market(), offers})
	if err != nil {
		return fmt.Errorf("outward: %w", err)
	}
	sum := sha256.Sum256(list)
	return c.answer("application/zip", hex.EncodeToString(sum[:16]), c.market().Name+".zip", func() (data []byte, err error) {
		err = s.build(c, func() error {
			data, err = s.folder(c, offers)
			return err
		})
		return data, err
	})
}

func (s *surface) folder(c *call, offers []offer) ([]byte, error) {
	m, size := c.market(), 0
	var files []interchange.ExportFile
	err := s.contents(c.r.Context(), c.who, offers, func(o offer, content capability.Content) error {
		var dir string
		m.listed(c, o, func(name string) any {
			dir = "plugins/" + name
			return "./" + dir
		})
		part, err := interchange.ExportPlugin(c.pluginName(o), []capability.Content{content}, c.meta(o, content))
		if err != nil {
			return fmt.Errorf("outward: %w", err)
		}
		for _, f := range part {
			f.Path = dir + "/" + f.Path
			files = append(files, f)
			if size += len(f.Data); size > maxFolder {
				return fault.New(fault.TooLarge, "marketplace_too_large", "The marketplace is larger than %d MiB.", maxFolder>>20).
					Do("Install its plugins one by one, from their own archives.")
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	manifest, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("outward: %w", err)
	}
	files = append([]interchange.ExportFile{{Path: ".claude-plugin/marketplace.json", Data: manifest}}, files...)
	var b bytes.Buffer
	if err := interchange.WriteZip(&b, m.Name, files); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// sums remembers the digests of archives: a version's never changes.
type sums struct {
	mu    sync.Mutex
	known map[string]string
}

const maxSums = 20_000

func newSums() *sums { return &sums{known: map[string]string{}} }

func (s *sums) get(key string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum, ok := s.known[key]
	return sum, ok
}

// put remembers a digest. A full memory begins anew.
func (s *sums) put(key, sum string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.known) >= maxSums {
		clear(s.known)
	}
	s.known[key] = sum
}
