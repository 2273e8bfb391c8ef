package interchange

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
)

// pluginRoot is the variable that names the plugin's folder in its commands.
const pluginRoot = "CLAUDE_PLUGIN_ROOT"

// script is what a handler runs, as a hook of capstore runs it: code with files
// in its working folder.
type script struct {
	language capability.Language
	code     string
	files    []capability.File
	name     string // of the script's file, "" for a shell line
	shown    string // the file as it is told
}

var (
	rootSpelling = regexp.MustCompile(`\$\{` + pluginRoot + `\}|\$` + pluginRoot + `\b`)
	rootMention  = regexp.MustCompile(`["']?(?:\$\{` + pluginRoot + `\}|\$` + pluginRoot + `)["']?/([A-Za-z0-9_./@+-]+)`)
	// folderRun is how an export runs a hook that has files: in their folder.
	folderRun = regexp.MustCompile(`^cd "?\$\{` + pluginRoot + `\}/([A-Za-z0-9_./-]+)"? && (?:exec )?(python3|node|bash) "?([A-Za-z0-9_.-]+)"?$`)
	// ownProject is how a project's hooks name its .claude folder.
	ownProject = regexp.MustCompile(`(?:\$\{CLAUDE_PROJECT_DIR\}|\$CLAUDE_PROJECT_DIR)("?)/\.claude\b`)
	shebang    = regexp.MustCompile(`^#!\s*(?:/usr/bin/env\s+(?:-S\s+)?)?(?:[A-Za-z0-9_./-]*/)?([a-z]+)[0-9.]*`)
	// compound is what makes a line more than one program and its arguments.
	compound = regexp.MustCompile("[|&;<>()`\\n]|\\$[({A-Za-z]")
)

// interpreters are the programs that run a script, by the words that name them.
var interpreters = map[string]capability.Language{
	"bash": capability.Bash, "sh": capability.Bash, "zsh": capability.Bash, "dash": capability.Bash,
	"python": capability.Python, "python3": capability.Python, "node": capability.Node, "nodejs": capability.Node,
}

var programs = map[capability.Language]string{capability.Bash: "bash", capability.Python: "python3", capability.Node: "node"}

var endings = map[capability.Language]string{capability.Bash: ".sh", capability.Python: ".py", capability.Node: ".js"}

// script reads what a handler runs. Nothing is run or looked up for it.
func (r *pluginRead) script(h *object, item *Item) (script, *fault.Fault) {
	line := strings.TrimSpace(h.text("command"))
	if r.faces[0].project {
		line = ownProject.ReplaceAllString(line, "$${"+pluginRoot+"}$1")
	}
	argv, simple := commandWords(line)
	if h.has("args") {
		argv, simple = []string{line}, true
		for _, v := range h.list("args") {
			s, ok := v.(string)
			if !ok {
				return script{}, fault.New(fault.Invalid, "hook_arguments", "The arguments of a handler are texts.")
			}
			argv = append(argv, s)
		}
		line = shellWords(argv)
	}
	switch {
	case strings.Contains(line, "${user_config."):
		return script{}, fault.New(fault.Invalid, "hook_settings", "The command takes a setting of the plugin, and a hook has none.").
			Do("Have its author write the value into the script.")
	case strings.Contains(line, "\x00"):
		return script{}, fault.New(fault.Invalid, "nul_byte", "The command holds a NUL byte.")
	}
	if m := folderRun.FindStringSubmatch(line); m != nil {
		if out, ok, f := r.ownFolder(m[1], m[3], interpreters[m[2]]); ok || f != nil {
			return out, f
		}
	}
	if simple {
		if out, ok, f := r.program(argv, item); ok || f != nil {
			return out, f
		}
	}
	return r.shellLine(line, item)
}

// commandWords parts a command that is one program and its arguments.
func commandWords(line string) ([]string, bool) {
	if compound.MatchString(rootSpelling.ReplaceAllString(line, "")) {
		return nil, false
	}
	return capability.SplitArguments(line), true
}

// shellWords writes arguments so that a shell reads them as they are, with the
// plugin's folder filled in.
func shellWords(argv []string) string {
	out := make([]string, len(argv))
	for i, a := range argv {
		if out[i] = a; plainWord.MatchString(a) {
			continue
		}
		parts := rootSpelling.Split(a, -1)
		for j, part := range parts {
			parts[j] = quoting.Replace(part)
		}
		out[i] = `"` + strings.Join(parts, "${"+pluginRoot+"}") + `"`
	}
	return strings.Join(out, " ")
}

// quoting escapes what means something within double quotes.
var quoting = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`")

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:=@%+,-]+$`)

// program reads a command that runs one script of the plugin; false for any
// other.
func (r *pluginRead) program(argv []string, item *Item) (out script, ok bool, f *fault.Fault) {
	if len(argv) > 1 && path.Base(argv[0]) == "env" {
		argv = argv[1:]
	}
	var by capability.Language
	if len(argv) > 1 {
		if by = interpreters[path.Base(argv[0])]; by != "" {
			argv = argv[1:]
		}
	}
	if len(argv) == 0 {
		return script{}, false, nil
	}
	rel, inside := underRoot(argv[0])
	if foreign[path.Base(argv[0])] && len(argv) > 1 {
		if other, ok := underRoot(argv[1]); ok {
			return script{}, false, foreignScript(other)
		}
	}
	if !inside {
		return script{}, false, nil
	}
	file, text, f := r.scriptFile(rel)
	if f != nil {
		return script{}, false, f
	}
	if by == "" {
		by = languageOf(rel, text)
	}
	if by == "" {
		return script{}, false, foreignScript(rel)
	}
	out = script{language: by, code: text, name: kebab(commandStem(rel)), shown: path.Base(rel)}
	more, f := r.needed(file, text)
	if f != nil {
		return script{}, false, f
	}
	item.note(strings.Contains(text, "CLAUDE_PROJECT_DIR"), "hook_project", "It looks into the project's folder, which there is none of here.")
	if len(argv) == 1 && len(more) == 1 && !strings.Contains(text, pluginRoot) {
		return out, true, nil
	}
	words := append([]string{programs[by], "${" + pluginRoot + "}/" + rel}, argv[1:]...)
	out.language, out.code, out.files = capability.Bash, wrapper("exec "+shellWords(words)), more
	item.about(true, "hook_files", "Taken along", clip(fileNames(more), 300))
	return out, true, nil
}

// foreign are interpreters of languages that no hook is written in.
var foreign = map[string]bool{
	"ruby": true, "perl": true, "php": true, "deno": true, "bun": true, "tsx": true, "ts-node": true, "pwsh": true, "powershell": true, "java": true, "lua": true, "Rscript": true,
}

func foreignScript(rel string) *fault.Fault {
	return fault.New(fault.Invalid, "hook_language", "%q is no script that runs here: bash, Python and Node do.", clip(rel, 120)).
		Do("Leave the hook out, or have its author write it in one of these.").With("what", clip(rel, 120))
}

// underRoot is the path within the plugin that a word names.
func underRoot(word string) (string, bool) {
	at := rootSpelling.FindStringIndex(word)
	if at == nil || at[0] != 0 || !strings.HasPrefix(word[at[1]:], "/") {
		return "", false
	}
	return strings.TrimLeft(word[at[1]:], "/"), true
}

// wrapper is the shell script that runs a line of a plugin in the folder of its
// files.
func wrapper(line string) string {
	return "# The files of the plugin lie in the working folder.\nexport " + pluginRoot + "=\"$PWD\"\n" + line + "\n"
}

// scriptFile reads a script of the plugin as text.
func (r *pluginRead) scriptFile(rel string) (TreeFile, string, *fault.Fault) {
	clean, f := pluginPath(rel)
	if f != nil {
		return TreeFile{}, "", f
	}
	file, ok := r.tree.file(r.join(clean))
	if !ok {
		return TreeFile{}, "", fault.New(fault.Invalid, "hook_script_missing", "The hook runs %q, which is not in the plugin.", clip(rel, 120)).
			Do("Import the whole folder of the plugin, or ask its author for the missing script.").With("what", clip(rel, 120))
	}
	raw, err := readWithin(file, capability.MaxCode)
	if err == nil {
		var text string
		if text, _, err = readText(raw); err == nil {
			return file, text, nil
		}
	}
	return TreeFile{}, "", fault.From(err)
}

func languageOf(p, text string) capability.Language {
	if m := shebang.FindStringSubmatch(text); m != nil {
		return interpreters[m[1]]
	}
	switch strings.ToLower(path.Ext(p)) {
	case ".sh", ".bash":
		return capability.Bash
	case ".py":
		return capability.Python
	case ".js", ".mjs", ".cjs":
		return capability.Node
	}
	return ""
}

// shellLine is a command as a bash hook, with the files of the plugin that it
// names.
func (r *pluginRead) shellLine(line string, item *Item) (script, *fault.Fault) {
	if strings.HasPrefix(strings.TrimLeft(line, `"'`), "$CLAUDE_PROJECT_DIR") || strings.HasPrefix(strings.TrimLeft(line, `"'`), "${CLAUDE_PROJECT_DIR}") {
		return script{}, fault.New(fault.Invalid, "hook_script_outside", "The hook runs a script of the project's folder, which is not in the plugin.").
			Do("Have its author put the script into the plugin.")
	}
	item.note(strings.Contains(line, "CLAUDE_PROJECT_DIR"), "hook_project", "It looks into the project's folder, which there is none of here.")
	program := path.Base(strings.Fields(line)[0])
	item.about(fetching[program], "hook_program", "It calls a program that has to be there and that nothing fetches here", program)
	if !strings.Contains(line, pluginRoot) {
		return script{language: capability.Bash, code: line}, nil
	}
	var files []capability.File
	seen := map[string]bool{}
	for _, m := range rootMention.FindAllStringSubmatch(line, -1) {
		rel, f := pluginPath(m[1])
		if f != nil {
			return script{}, f
		}
		file, ok := r.tree.file(r.join(rel))
		if !ok {
			continue
		}
		_, text, f := r.scriptFile(rel)
		if f != nil {
			continue // no text: it is taken along by whoever names it below
		}
		more, f := r.needed(file, text)
		if f != nil {
			return script{}, f
		}
		for _, c := range more {
			if !seen[c.Path] {
				seen[c.Path] = true
				files = append(files, c)
			}
		}
	}
	slices.SortFunc(files, func(a, b capability.File) int { return strings.Compare(a.Path, b.Path) })
	item.about(len(files) > 0, "hook_files", "Taken along", clip(fileNames(files), 300))
	return script{language: capability.Bash, code: wrapper(line), files: files}, nil
}

// fetching are programs that fetch or need what a sandbox has not.
var fetching = map[string]bool{
	"npx": true, "bunx": true, "bun": true, "deno": true, "pnpm": true, "yarn": true, "uv": true, "uvx": true, "pipx": true, "docker": true, "gh": true, "git": true, "go": true, "jq": true, "curl": true,
}

func fileNames(files []capability.File) string {
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = f.Path
	}
	return strings.Join(names, ", ")
}

// ownFolder reads a hook that has a folder of the plugin to itself, as an export
// writes it.
func (r *pluginRead) ownFolder(dir, name string, by capability.Language) (script, bool, *fault.Fault) {
	if _, f := pluginPath(dir); f != nil {
		return script{}, false, f
	}
	main, ok := r.files[r.join(path.Join(dir, name))]
	if !ok {
		return script{}, false, nil
	}
	_, text, f := r.scriptFile(path.Join(dir, name))
	if f != nil {
		return script{}, false, f
	}
	var rest []TreeFile
	for _, file := range r.tree.below(r.join(dir)) {
		if _, own := r.files[file.Path]; own && file.Path != main.Path {
			rest = append(rest, file)
		}
		r.taken[file.Path] = true
	}
	files, err := beside(r.join(dir)+"/", rest)
	if err != nil {
		return script{}, false, fault.From(err)
	}
	return script{language: by, code: text, files: files, name: path.Base(dir), shown: name}, true, nil
}

// needed are the files of the plugin that a script leans on, itself included:
// those whose name stands in its text, and those that they lean on in turn. A
// file too many does no harm; one too few breaks the hook.
func (r *pluginRead) needed(file TreeFile, text string) ([]capability.File, *fault.Fault) {
	queue, texts := []TreeFile{file}, map[string]string{file.Path: text}
	for i := 0; i < len(queue) && len(queue) <= capability.MaxFiles; i++ {
		for _, f := range r.leaned(texts[queue[i].Path]) {
			if _, seen := texts[f.Path]; seen {
				continue
			}
			texts[f.Path] = ""
			if raw, err := readWithin(f, capability.MaxCode); err == nil && badBytes(raw) == nil {
				texts[f.Path] = string(raw)
			}
			queue = append(queue, f)
		}
	}
	slices.SortFunc(queue, func(a, b TreeFile) int { return strings.Compare(a.Path, b.Path) })
	for _, f := range queue {
		r.taken[f.Path] = true
	}
	prefix := ""
	if r.dir != "." {
		prefix = r.dir + "/"
	}
	out, err := beside(prefix, queue)
	if err != nil {
		return nil, fault.From(err)
	}
	return out, nil
}

// leaned are the files whose name, or module's name, a text holds.
func (r *pluginRead) leaned(text string) []TreeFile {
	words := map[string]bool{}
	for _, w := range scriptWord.FindAllString(text, -1) {
		words[path.Base(w)] = true
		for part := range strings.SplitSeq(w, ".") {
			words[path.Base(part)+".py"] = true
		}
	}
	var out []TreeFile
	for _, f := range r.list {
		base := path.Base(f.Path)
		if isDocument(f.Path) || strings.HasSuffix(base, ".md") || r.inside(f.Path) == pluginManifest || base == "hooks.json" {
			continue
		}
		if words[base] || isNode(base) && words[strings.TrimSuffix(base, path.Ext(base))] {
			out = append(out, f)
		}
	}
	return out
}

func isNode(base string) bool {
	return slices.Contains([]string{".js", ".mjs", ".cjs"}, path.Ext(base))
}

var scriptWord = regexp.MustCompile(`[A-Za-z0-9_@-][A-Za-z0-9_./@-]*`)
