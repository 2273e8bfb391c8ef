package views

// StoreFilters are what the store's address says about its list. The zero
// value is the whole store in its own order.
type StoreFilters struct {
	Query   string
	Kinds   []string
	Tags    []string
	Reach   []string
	Sources []string
	Domains []string
	// WorksHere leaves out what this server cannot run.
	WorksHere bool
	Sort      string // "" is the store's own order
	Cursor    string
}

// Shelves of the store beside the whole of it: what the workspace published,
// and what any other one did, by its name.
const (
	ShelfStore = ""
	ShelfMine  = FromMine
)

// StoreListPath is a shelf of the store, as the filters narrow it.
func StoreListPath(ws, shelf string, f StoreFilters) string {
	path := StorePath(ws)
	if shelf != ShelfStore {
		path = SourcePath(ws, shelf)
	}
	pairs := []string{"q", f.Query}
	for _, list := range f.lists() {
		for _, v := range list.values {
			pairs = append(pairs, list.name, v)
		}
	}
	return withQuery(path, append(pairs, "sort", f.Sort, "cursor", f.Cursor)...)
}

// SourcePath is the page of what a workspace published.
func SourcePath(ws, source string) string { return join(ws, "store", source) }

// WorksHere is how the address asks for what this server can run.
const WorksHere = "here"

// filterList is one filter with its values, by its name in the address.
type filterList struct {
	name   string
	values []string
}

func (f StoreFilters) lists() []filterList {
	lists := []filterList{{"kind", f.Kinds}, {"tag", f.Tags}, {"reach", f.Reach}, {"source", f.Sources}, {"domain", f.Domains}}
	if f.WorksHere {
		lists = append(lists, filterList{"works", []string{WorksHere}})
	}
	return lists
}

// StoreStepsPath is the line of first steps, as a fragment.
func StoreStepsPath(ws string) string { return join(ws, "store", "steps") }

// UnlistedPath is what the workspace published and no list shows.
func UnlistedPath(ws string) string { return join(ws, "store", "unlisted") }

// LeftPath is where an admin takes over or deletes what a former member left
// behind, and with op "" takes the POST of it.
func LeftPath(ws, id, op string) string { return withQuery(join(ws, "store", "left", id), "op", op) }

// FromMine marks a detail page that was opened from what the workspace
// published.
const FromMine = "mine"

// Tabs of a capability's page.
const (
	TabAbout     = "about"
	TabFunctions = "functions"
	TabSource    = "source"
	TabFiles     = "files"
	TabVersions  = "versions"
	TabTry       = "try"
)

// DetailLens is what the address of a capability's page says beyond its name:
// the tab, the version looked at and the page to go back to, each "" for the
// default.
type DetailLens struct {
	Tab     string
	Version string
	From    string
}

// CapabilityTabPath is one tab of a capability's page.
func CapabilityTabPath(ws, source, id string, l DetailLens) string {
	tab := l.Tab
	if tab == TabAbout {
		tab = ""
	}
	return withQuery(CapabilityPath(ws, source, id), "tab", tab, "version", l.Version, "from", l.From)
}

// CapabilityFilePath is one file of a version, shown within the Files tab; plain
// shows it as it is written.
func CapabilityFilePath(ws, source, id string, l DetailLens, file string, plain bool) string {
	return withQuery(CapabilityPath(ws, source, id), "tab", TabFiles, "version", l.Version, "from", l.From, "file", file, "view", viewOf(plain))
}

// viewOf is the query's word for a file that is shown as it is written.
func viewOf(plain bool) string {
	if plain {
		return "source"
	}
	return ""
}

// RawFilePath hands one file of a version over as a download.
func RawFilePath(ws, source, id, version, file string) string {
	return withQuery(join(ws, "store", source, id, "file"), "version", version, "path", file)
}

// VersionDiffPath is the Versions tab with two versions compared; split, when
// set, puts them side by side. An empty version leaves the choice to the page.
func VersionDiffPath(ws, source, id, base, candidate string, split bool) string {
	return ComparisonPath(ws, source, id, ComparisonLens{Base: base, Candidate: candidate, Split: split})
}

// AdoptPath is where a version is adopted or re-pinned, and takes the POST of
// it. An empty version is the latest one.
func AdoptPath(ws, source, id, version string) string {
	return withQuery(join(ws, "store", source, id, "adopt"), "version", version)
}

// UnadoptPath takes the POST that ends an adoption.
func UnadoptPath(ws, source, id string) string { return join(ws, "store", source, id, "unadopt") }

// EditCapabilityPath is where the next version of a capability is written.
func EditCapabilityPath(ws, source, id string) string { return join(ws, "store", source, id, "edit") }

// ManagePath is where its publisher decides on a capability's reach, tags,
// maintainers and versions.
func ManagePath(ws, source, id string) string { return join(ws, "store", source, id, "manage") }

// CopySkillPath takes the POST that copies a published skill to the
// workspace's library.
func CopySkillPath(ws, source, id string) string { return join(ws, "store", source, id, "copy") }

// ImportPath is where things are brought in from files.
func ImportPath(ws string) string { return join(ws, "store", "import") }

// ExportPath hands over a version in a format that others read; without a
// version all of them, in capstore's own.
func ExportPath(ws, source, id, version, format string) string {
	return withQuery(join(ws, "store", source, id, "export"), "version", version, "format", format)
}

// StagedImportPath is where what was sent is looked at and published; with a
// fate only what shares it is shown.
func StagedImportPath(ws, id, fate string) string {
	return withQuery(join(ws, "imports", id), "show", fate)
}

// TryPath takes the POST that runs a version of a code tool once.
func TryPath(ws, source, id, version string) string {
	return withQuery(join(ws, "store", source, id, "try"), "version", version)
}

// TryExamplePath is the Try tab with a worked call filled in.
func TryExamplePath(ws, source, id string, l DetailLens, example string) string {
	return withQuery(CapabilityPath(ws, source, id), "tab", TabTry, "version", l.Version, "from", l.From, "example", example)
}
