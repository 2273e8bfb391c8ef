package toolsearch

import (
	"hash/maphash"
	"runtime"
	"slices"
	"sync"
	"weak"
)

// Most tools of one world are those of the next and of the epoch before, so
// what is known of a tool is kept while any index holds it.
var (
	shared  sync.Map // uint64 -> weak.Pointer[analysis]
	docSeed = maphash.MakeSeed()
)

// analysed returns the analysis of d, made by memo unless an index still holds
// one of a tool with the same content.
func analysed(d Doc, memo stems) *analysis {
	key := contentHash(&d)
	if kept, ok := shared.Load(key); ok {
		if a := kept.(weak.Pointer[analysis]).Value(); a != nil && a.doc.equal(&d) {
			return a
		}
	}
	a := analyse(d, memo)
	made := weak.Make(a)
	shared.Store(key, made)
	runtime.AddCleanup(a, func(key uint64) { shared.CompareAndDelete(key, made) }, key)
	return a
}

// equal is for tools whose hashes are.
func (d *Doc) equal(e *Doc) bool {
	return d.ID == e.ID && d.Name == e.Name && d.Raw == e.Raw && d.Server == e.Server && d.Title == e.Title &&
		d.Description == e.Description && slices.Equal(d.Tags, e.Tags) && slices.Equal(d.Domains, e.Domains) && slices.Equal(d.Params, e.Params)
}

func contentHash(d *Doc) uint64 {
	var h maphash.Hash
	h.SetSeed(docSeed)
	put := func(parts ...string) {
		for _, s := range parts {
			h.WriteString(s)
			h.WriteByte(0)
		}
		h.WriteByte(1)
	}
	put(d.ID, d.Name, d.Raw, d.Server, d.Title, d.Description)
	put(d.Tags...)
	put(d.Domains...)
	for _, p := range d.Params {
		put(p.Name, p.Description)
	}
	return h.Sum64()
}
