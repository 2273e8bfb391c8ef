package interchange

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
)

// PluginMeta is what the manifest of a plugin says beside its parts. Empty
// fields are left out.
type PluginMeta struct {
	DisplayName string
	Version     string
	Description string
	Author      string
	Homepage    string
	License     string
	Keywords    []string
}

// PluginName makes the name of a plugin as Claude Code wants one: lower-case
// letters, digits and single hyphens, and none of its own beginnings.
func PluginName(name string) string {
	id := capability.IDFromName(name)
	for strings.Contains(id, "--") {
		id = strings.ReplaceAll(id, "--", "-")
	}
	for _, reserved := range []string{"claude", "anthropic"} {
		if id == reserved || strings.HasPrefix(id, reserved+"-") {
			return "capstore-" + id
		}
	}
	return id
}

// InPlugin reports whether a plugin has a place for the kind.
func InPlugin(k capability.Kind) bool {
	switch k {
	case capability.KindSkill, capability.KindCommand, capability.KindHook, capability.KindMCP:
		return true
	}
	return false
}

// ExportPlugin gives the files of a Claude Code plugin with the capabilities,
// in the order of their paths: skills as folders, commands and hooks as files,
// servers in one document. Importing it gives every one back as it was. The
// fault is for a kind that a plugin has no place for.
func ExportPlugin(name string, contents []capability.Content, meta PluginMeta) ([]ExportFile, error) {
	w := &pluginWriter{taken: map[string]bool{}, paths: map[string]capability.Content{}, hooks: map[string][]hookGroup{}}
	for _, c := range contents {
		if err := w.part(c); err != nil {
			return nil, err
		}
	}
	if err := w.documents(PluginName(name), meta); err != nil {
		return nil, err
	}
	if err := w.sidecar(); err != nil {
		return nil, err
	}
	slices.SortFunc(w.files, func(a, b ExportFile) int { return strings.Compare(a.Path, b.Path) })
	return w.files, nil
}

// ExportPluginZip writes the plugin as a zip, with its files at the top. The
// same capabilities always give the same bytes.
func ExportPluginZip(out io.Writer, name string, contents []capability.Content, meta PluginMeta) error {
	files, err := ExportPlugin(name, contents, meta)
	if err != nil {
		return err
	}
	return WriteZip(out, "", files)
}

// pluginWriter is a plugin on its way to files.
type pluginWriter struct {
	files   []ExportFile
	taken   map[string]bool               // folded names of folders and files
	paths   map[string]capability.Content // by the path under which a part is read back
	hooks   map[string][]hookGroup        // by event
	servers []capability.Content
}

// manifestDocument is a plugin.json.
type manifestDocument struct {
	Name        string          `json:"name"`
	DisplayName string          `json:"displayName,omitempty"`
	Version     string          `json:"version,omitempty"`
	Description string          `json:"description,omitempty"`
	Author      *manifestAuthor `json:"author,omitempty"`
	Homepage    string          `json:"homepage,omitempty"`
	License     string          `json:"license,omitempty"`
	Keywords    []string        `json:"keywords,omitempty"`
}

type manifestAuthor struct {
	Name string `json:"name"`
}

type hookGroup struct {
	Matcher string        `json:"matcher,omitempty"`
	Hooks   []hookHandler `json:"hooks"`
}

type hookHandler struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout,omitempty"`
}

func (w *pluginWriter) part(c capability.Content) error {
	switch spec := c.Spec.(type) {
	case *capability.SkillSpec:
		return w.skill(c)
	case *capability.CommandSpec:
		file := w.free("commands/", fileStem(c.Name), ".md")
		w.files = append(w.files, ExportFile{Path: file, Data: writeCommand(c, spec)})
		w.paths[file] = c
		return nil
	case *capability.HookSpec:
		return w.hook(c, spec)
	case *capability.MCPSpec:
		w.servers = append(w.servers, c)
		return nil
	}
	return fault.New(fault.Invalid, "not_in_a_plugin", "%q cannot be part of a plugin, which holds skills, commands, hooks and servers.", clip(c.Name, 80)).
		Do("Export it in the format of capstore.").With("name", clip(c.Name, 80))
}

// free is a path below the folder that no other part has.
func (w *pluginWriter) free(folder, stem, ending string) string {
	p := folder + stem + ending
	for n := 2; w.taken[capability.PathKey(p)]; n++ {
		p = folder + stem + "-" + strconv.Itoa(n) + ending
	}
	w.taken[capability.PathKey(p)] = true
	return p
}

var stemPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)

// fileStem is what the file of a command is called, which is what a person
// types.
func fileStem(name string) string {
	stem := name
	if code, _ := capability.PathFault(name); code != "" || !stemPattern.MatchString(name) {
		stem = capability.IDFromName(name)
	}
	if strings.EqualFold(stem, "readme") || strings.EqualFold(stem, "skill") { // files that mean something else
		stem += "-command"
	}
	return stem
}

func (w *pluginWriter) skill(c capability.Content) error {
	files, err := ExportFolder(c)
	if err != nil {
		return err
	}
	dir := w.free("skills/", FolderName(c.Name), "")
	for _, f := range files {
		f.Path = dir + "/" + f.Path
		w.files = append(w.files, f)
	}
	w.paths[dir+"/"+capability.SkillFileName] = c
	return nil
}

// hook writes a hook into a folder of its own, in which it runs as it does
// here.
func (w *pluginWriter) hook(c capability.Content, spec *capability.HookSpec) error {
	dir := w.free("hooks/", capability.IDFromName(c.Name), "")
	tree := capability.NewPathTree()
	for _, f := range spec.Files {
		if code, message := capability.PathFault(f.Path); code != "" {
			return fault.New(fault.Invalid, "stored_path", "The stored file %q cannot be written. %s", clip(f.Path, 120), message)
		}
		if other := tree.Add(f.Path); other != "" {
			return fault.New(fault.Invalid, "stored_path", "The stored files %q and %q cannot lie beside each other.", clip(f.Path, 120), clip(other, 120))
		}
		data, err := f.Bytes()
		if err != nil {
			return fmt.Errorf("export: %w", err)
		}
		w.files = append(w.files, ExportFile{dir + "/" + f.Path, data, f.Executable})
	}
	main := "hook" + endings[spec.Language]
	for n := 2; tree.Add(main) != ""; n++ {
		main = "hook-" + strconv.Itoa(n) + endings[spec.Language]
	}
	w.files = append(w.files, ExportFile{dir + "/" + main, []byte(spec.Code), true})
	event := eventName(spec.Event)
	matcher := "" // other events have no tool to match
	if spec.Event == capability.EventBeforeTool || spec.Event == capability.EventAfterTool {
		matcher = matcherOf(spec.Matcher)
	}
	w.hooks[event] = append(w.hooks[event], hookGroup{matcher, []hookHandler{{
		Type: "command", Command: `cd "${` + pluginRoot + `}/` + dir + `" && ` + programs[spec.Language] + " " + main, Timeout: spec.TimeoutSec,
	}}})
	w.paths["hooks/hooks.json#"+event+"/"+strconv.Itoa(len(w.hooks[event]))] = c
	return nil
}

func eventName(e capability.Event) string {
	for _, known := range hookEvents {
		if known.event == e {
			return known.name
		}
	}
	return string(e)
}

// documents writes the manifest, the hooks and the servers.
func (w *pluginWriter) documents(name string, meta PluginMeta) error {
	manifest := manifestDocument{
		Name: name, DisplayName: meta.DisplayName, Version: meta.Version, Description: meta.Description,
		Homepage: meta.Homepage, License: meta.License, Keywords: meta.Keywords,
	}
	if meta.Author != "" {
		manifest.Author = &manifestAuthor{meta.Author}
	}
	if err := w.document(pluginManifest, manifest); err != nil {
		return err
	}
	if len(w.hooks) > 0 {
		if err := w.document("hooks/hooks.json", map[string]any{"hooks": w.hooks}); err != nil {
			return err
		}
	}
	if len(w.servers) == 0 {
		return nil
	}
	raw, err := ExportServers(w.servers, DialectClaude)
	if err != nil {
		return err
	}
	w.files = append(w.files, ExportFile{Path: ".mcp.json", Data: raw})
	return nil
}

func (w *pluginWriter) document(p string, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	w.files = append(w.files, ExportFile{Path: p, Data: b.Bytes()})
	return nil
}

// sidecar reads back what was written and remembers what the format lost.
func (w *pluginWriter) sidecar() error {
	t := &tree{name: "plugin"}
	for _, f := range w.files {
		t.files = append(t.files, TreeFile{Path: f.Path, Size: int64(len(f.Data)), Executable: f.Executable, read: func() ([]byte, error) { return f.Data, nil }})
	}
	t.sort()
	back, err := find(t, Options{Rules: capability.Rules{AllowLoopbackHTTP: true}})
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	var side pluginSidecar
	for _, item := range back.Items() {
		want, ok := w.paths[item.Path]
		if !ok || item.Kind == capability.KindSkill { // which has a sidecar of its own
			continue
		}
		if item.Status != Ready {
			return fmt.Errorf("export: %s is written so that it cannot be read: %w", item.Path, item.Fault)
		}
		if err := side.keep(item.Path, item.Content, want); err != nil {
			return fmt.Errorf("export: %w", err)
		}
	}
	if len(side.Capabilities) == 0 {
		return nil
	}
	return w.document(sidecarName, side)
}

// writeCommand writes a command's file.
func writeCommand(c capability.Content, spec *capability.CommandSpec) []byte {
	var b bytes.Buffer
	b.WriteString("---\n")
	b.WriteString("description: " + yamlText(c.Description) + "\n")
	if spec.ArgumentHint != "" {
		b.WriteString("argument-hint: " + yamlText(spec.ArgumentHint) + "\n")
	}
	if len(spec.AllowedTools) > 0 {
		b.WriteString("allowed-tools: " + yamlText(strings.Join(spec.AllowedTools, ", ")) + "\n")
	}
	b.WriteString("---\n\n" + spec.Template + "\n")
	return b.Bytes()
}
