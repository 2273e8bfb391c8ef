// Package static holds the built front end: style sheets, scripts and images,
// embedded and served under names that carry a hash of their content.
package static

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"io/fs"
	"path"
	"strings"
)

// Prefix is the path under which Handler expects to be mounted.
const Prefix = "/static/"

// all: keeps the build of a fresh clone working, where only .gitkeep is there.
//
//go:embed all:dist
var dist embed.FS

// needed are the files that pages refer to; Check misses them by name.
var needed = []string{"app.css", "app.js", "editor.js", "favicon.svg"}

// asset is one served file with its compressed twins, which may be nil.
type asset struct {
	name    string // as built, such as app.css
	body    []byte
	brotli  []byte
	gzip    []byte
	etag    string
	address string // as served, such as app.1f0c9a2b7d3e.css
}

var byName, byAddress = load(dist)

// load reads every built file once. Compressed twins ride with their original.
func load(files fs.FS) (byName, byAddress map[string]*asset) {
	byName, byAddress = map[string]*asset{}, map[string]*asset{}
	entries, err := fs.ReadDir(files, "dist")
	if err != nil {
		return byName, byAddress // nothing was built; Check says so
	}
	read := func(name string) []byte {
		body, err := fs.ReadFile(files, "dist/"+name)
		if err != nil {
			return nil
		}
		return body
	}
	for _, entry := range entries {
		name := entry.Name()
		if ext := path.Ext(name); entry.IsDir() || strings.HasPrefix(name, ".") || ext == ".br" || ext == ".gz" {
			continue
		}
		a := &asset{name: name, body: read(name), brotli: read(name + ".br"), gzip: read(name + ".gz")}
		sum := sha256.Sum256(a.body)
		hash := hex.EncodeToString(sum[:6])
		a.etag = `"` + hash + `"`
		ext := path.Ext(name)
		a.address = strings.TrimSuffix(name, ext) + "." + hash + ext
		byName[name], byAddress[a.address] = a, a
	}
	return byName, byAddress
}

// Path returns the address of a built file, such as /static/app.1f0c9a2b7d3e.css.
// A file that was not built keeps its plain name, which Handler answers with 404.
func Path(name string) string {
	if a, ok := byName[name]; ok {
		return Prefix + a.address
	}
	return Prefix + name
}

// Check returns an error that names the missing files and the command that
// builds them, or nil when every needed file is there.
func Check() error {
	var missing []string
	for _, name := range needed {
		if _, ok := byName[name]; !ok {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return errors.New("the front end is not built (missing " + strings.Join(missing, ", ") +
		"): run `make build`, or `npm ci && npm run build` and build the server again")
}
