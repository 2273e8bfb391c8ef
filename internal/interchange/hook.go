package interchange

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
)

// hookEvents are the events that capstore has, under the names by which plugins
// know them.
var hookEvents = []struct {
	name  string
	event capability.Event
}{
	{"SessionStart", capability.EventSessionStart},
	{"UserPromptSubmit", capability.EventUserPromptSubmit},
	{"PreToolUse", capability.EventBeforeTool},
	{"PostToolUse", capability.EventAfterTool},
	{"Stop", capability.EventTurnEnd},
}

// hookEvent finds the event of a plugin's name for it, however it is spelled.
func hookEvent(name string) (capability.Event, bool) {
	for _, e := range hookEvents {
		if strings.EqualFold(strings.NewReplacer("_", "", "-", "").Replace(name), e.name) {
			return e.event, true
		}
	}
	return "", false
}

func eventNames() string {
	names := make([]string, len(hookEvents))
	for i, e := range hookEvents {
		names[i] = e.name
	}
	return strings.Join(names, ", ")
}

// handler is one thing that a hooks document asks for.
type handler struct {
	event   string // as the document names it
	matcher string
	fields  *object
	n       int // among those of its event, from 1
}

// hooks reads the hooks of a plugin: its own document, and what the manifest
// holds or names.
func (r *pluginRead) hooks(face *manifest) {
	const usual = "hooks/hooks.json"
	if face == r.faces[0] {
		r.hookFile(face, usual)
	}
	if face.project {
		r.settings(face)
	}
	for n, v := range face.values("hooks") {
		switch v := v.(type) {
		case string:
			rel, f := pluginPath(v)
			if f == nil && rel != usual && !r.hookFile(face, rel) {
				f = missingPart(v)
			}
			if f != nil {
				r.refuse(face, "hooks", n, f)
			}
		case *object:
			r.hookMap(face, r.place(face, "hooks", n)+"/", eventsOf(v))
		default:
			r.refuse(face, "hooks", n, unreadablePart("hooks"))
		}
	}
}

// hookFile reads a document of hooks, false where there is none.
func (r *pluginRead) hookFile(face *manifest, rel string) bool {
	f, ok := r.files[r.join(rel)]
	if !ok {
		return false
	}
	if r.taken[f.Path] {
		return true
	}
	r.taken[f.Path] = true
	raw, err := readWithin(f, MaxDocument)
	var doc any
	var notes []Note
	if err == nil {
		doc, notes, err = readRelaxed(raw)
	}
	root, isObject := doc.(*object)
	if err == nil && !isObject {
		err = unreadableHooks()
	}
	if err != nil {
		r.items = append(r.items, Item{Path: f.Path, Format: FormatPlugin, Kind: capability.KindHook, Status: Refused, Fault: fault.From(err).Do(correctFile)})
		return true
	}
	before := len(r.items)
	r.hookMap(face, f.Path+"#", eventsOf(root))
	if len(r.items) == before {
		r.items = append(r.items, pluginIgnored(f.Path, "no_hooks", "It holds no hook."))
	}
	r.items[before].Notes = append(at(f.Path, notes), r.items[before].Notes...)
	return true
}

// isHooks reports whether a JSON document holds hooks, as that of a plugin and
// the settings of a project do.
func isHooks(root *object) bool {
	events := root.object("hooks")
	return events != nil && slices.ContainsFunc(events.keys, func(k string) bool {
		_, known := hookEvent(k)
		return known
	})
}

// readHooks reads a document of hooks that came without its folder, so that
// none of its scripts is there.
func readHooks(p string, root *object, o Options) []Item {
	alone := &plugin{tree: &tree{}, dir: ".", o: o, faces: []*manifest{{name: "project", fields: &object{}, project: true}}}
	r := &pluginRead{plugin: alone, files: map[string]TreeFile{}, taken: map[string]bool{}, names: map[string]bool{}}
	r.hookMap(alone.faces[0], p+"#", root.object("hooks"))
	return r.items
}

// settingsFile is where a project keeps its hooks.
const settingsFile = "settings.json"

// settings reads the hooks of a project's settings; nothing else in them is of
// use here.
func (r *pluginRead) settings(face *manifest) {
	f, ok := r.files[r.join(settingsFile)]
	if !ok {
		return
	}
	raw, err := readWithin(f, MaxDocument)
	if err != nil {
		return // it is listed among the rest
	}
	doc, _, err := readRelaxed(raw)
	if root, ok := doc.(*object); err == nil && ok && root.object("hooks") != nil {
		r.hookMap(face, f.Path+"#", root.object("hooks"))
	}
}

func unreadableHooks() *fault.Fault {
	return fault.New(fault.Invalid, "hooks_unreadable", "Hooks are a map from events to lists of handlers.")
}

// eventsOf is the map from events, within the wrapping that a document has and
// a manifest has not.
func eventsOf(o *object) *object {
	if inner := o.object("hooks"); inner != nil {
		return inner
	}
	return o
}

// hookMap reads the handlers of a map from events. Their paths begin with head.
func (r *pluginRead) hookMap(face *manifest, head string, events *object) {
	for _, event := range events.keys {
		if _, words := events.values[event].(string); words {
			continue // a description, which stands beside the events
		}
		handlers, ok := handlersOf(event, events.values[event])
		if !ok {
			r.items = append(r.items, r.finish(face, Item{Path: head + event, Format: FormatPlugin, Kind: capability.KindHook, Fault: unreadableHooks()}))
			continue
		}
		for _, h := range handlers {
			r.hook(face, head, h)
		}
	}
}

// handlersOf flattens the groups of an event. A handler that stands without its
// group is taken as one that watches everything.
func handlersOf(event string, v any) ([]handler, bool) {
	groups, ok := v.([]any)
	if !ok {
		groups = []any{v}
	}
	var out []handler
	for _, g := range groups {
		group, ok := g.(*object)
		if !ok {
			return nil, false
		}
		list := group.list("hooks")
		if one := group.object("hooks"); one != nil {
			list = []any{one}
		}
		if !group.has("hooks") {
			list = []any{group}
		}
		for _, v := range list {
			fields, ok := v.(*object)
			if !ok {
				return nil, false
			}
			out = append(out, handler{event, group.text("matcher"), fields, len(out) + 1})
		}
	}
	return out, true
}

// hook makes the items of one handler: one hook, or one for each tool that its
// matcher lists, since a matcher of capstore is a single pattern.
func (r *pluginRead) hook(face *manifest, head string, h handler) {
	base := Item{Path: head + h.event + "/" + strconv.Itoa(h.n), Format: FormatPlugin, Kind: capability.KindHook}
	event, known := hookEvent(h.event)
	if !known {
		base.Fault = fault.New(fault.Invalid, "hook_event", "There is no event %q here; there are %s.", clip(h.event, 60), eventNames()).
			Do("Leave the hook out, or have its author write it for one of these events.").With("what", clip(h.event, 60)).With("events", eventNames())
		r.items = append(r.items, r.finish(face, base))
		return
	}
	if f := h.refused(); f != nil {
		base.Fault = f
		r.items = append(r.items, r.finish(face, base))
		return
	}
	matchers, f := h.matchers(event, &base)
	var run script
	if f == nil {
		run, f = r.script(h.fields, &base)
	}
	if f != nil {
		base.Fault = f
		r.items = append(r.items, r.finish(face, base))
		return
	}
	for _, m := range matchers {
		item := base
		item.Notes = slices.Clone(base.Notes)
		if len(matchers) > 1 {
			item.Path += "/" + m
			item.note(true, "hook_matcher_split", "Its matcher lists several tools; each becomes a hook of its own.")
		}
		spec := &capability.HookSpec{
			Event: event, Matcher: m, Language: run.language, Code: run.code, Files: run.files, TimeoutSec: h.timeout(&item),
		}
		item.note(spec.FailsClosed(), "hook_fails_closed", "Before a tool, a hook that fails denies the call here; its own host lets the call pass.")
		name := r.hookName(face, run, h, m, len(matchers) > 1)
		item.Content = capability.Content{Name: name, Description: h.describe(face, run, m), Spec: spec}
		r.add(face, item)
	}
}

// refused is why a handler can be no hook, nil when it may.
func (h handler) refused() *fault.Fault {
	no := func(code, format string, args ...any) *fault.Fault {
		return fault.New(fault.Invalid, code, format, args...).Do("Leave the hook out, or have its author write it as a script.")
	}
	kind := h.fields.text("type")
	switch {
	case kind == "" && h.fields.text("command") == "":
		return no("hook_command", "The handler names no command.")
	case kind != "" && kind != "command":
		return no("hook_type", "A handler of the type %q is not run here: a hook is a script.", clip(kind, 40)).With("what", clip(kind, 40))
	case strings.TrimSpace(h.fields.text("command")) == "":
		return no("hook_command", "The handler names no command.")
	case h.fields.text("if") != "":
		return no("hook_condition", "The handler only runs if %q, which cannot be said here: it would run for more than its author meant.", clip(h.fields.text("if"), 120)).With("what", clip(h.fields.text("if"), 120))
	}
	if shell := h.fields.text("shell"); shell != "" && shell != "bash" && shell != "sh" {
		return no("hook_shell", "The handler is written for %s; bash, Python and Node run here.", clip(shell, 40)).With("what", clip(shell, 40))
	}
	return nil
}

// timeout is the time limit in whole seconds, 0 where none is given.
func (h handler) timeout(item *Item) int {
	item.note(h.fields.flag("async", "asyncRewake"), "hook_async", "It is meant to run beside the turn; here the turn waits for it.")
	item.note(h.fields.flag("once"), "hook_once", "It is meant to run once a session; here it runs each time.")
	n, ok := h.fields.values["timeout"].(json.Number)
	if !ok {
		return 0
	}
	seconds, err := n.Float64()
	if err != nil || seconds <= 0 {
		return 0
	}
	whole := int(math.Ceil(min(seconds, 1<<20)))
	item.note(whole > capability.MaxTimeoutSec, "hook_timeout", "Its time limit is longer than the "+strconv.Itoa(capability.MaxTimeoutSec)+" seconds that a hook may have, which it gets.")
	return min(whole, capability.MaxTimeoutSec)
}

// hookName is the script's where that says something, else what the hook runs
// at, with the plugin's name where the plain one is taken.
func (r *pluginRead) hookName(face *manifest, run script, h handler, matcher string, several bool) string {
	word := run.name
	if word == "" || slices.Contains([]string{"hook", "main", "index", "run", "hooks"}, word) {
		word = face.name + "-" + capability.IDFromName(kebab(h.event))
	}
	if several {
		word += "-" + capability.IDFromName(kebab(strings.ReplaceAll(matcher, "*", " ")))
	}
	for n, base := 2, word; r.names[capability.FoldName(word)]; n++ {
		word = base + "-" + strconv.Itoa(n)
		if n == 2 && !strings.HasPrefix(base, face.name+"-") {
			base = face.name + "-" + base
			word = base
		}
	}
	word = shorten(capability.PlainText(word), capability.MaxName)
	r.names[capability.FoldName(word)] = true
	return word
}

// kebab parts a name at its capitals: "PreToolUse" is "pre-tool-use".
func kebab(s string) string {
	var b strings.Builder
	for i, r := range s {
		if i > 0 && 'A' <= r && r <= 'Z' && s[i-1] >= 'a' {
			b.WriteByte('-')
		}
		b.WriteRune(r)
	}
	return strings.ToLower(b.String())
}

// describe says what the hook does, as far as a document of hooks tells.
func (h handler) describe(face *manifest, run script, matcher string) string {
	what := "a shell line"
	if run.name != "" {
		what = run.shown
	}
	when := "Runs " + what + " at " + h.event
	if matcher != "" {
		when += " of " + matcher
	}
	if status := capability.PlainText(h.fields.text("statusMessage")); status != "" {
		when += ": " + status
	}
	return shorten(capability.PlainText(strings.TrimRight(when, ".…")+" (from the plugin "+face.name+")."), capability.MaxDescription)
}
