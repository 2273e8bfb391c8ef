package interchange

import (
	"regexp"
	"slices"
	"strings"
)

// placeholder is a place in a text where its reader fills something in. It is
// only ever declared: nothing is filled in from where capstore runs.
type placeholder struct {
	name    string // as the file spells it, without its marks
	scope   string // what stands before the name, as in ${env:NAME}
	text    string // with its marks
	initial string // what stands there when nobody says otherwise
	given   bool   // there is an initial, even if it is empty
	input   *input // what a file of VS Code says of it
	machine bool   // a path or setting of the machine that the file was made on
}

// piece is a literal part of a text, or a placeholder.
type piece struct {
	literal string
	hole    *placeholder
}

// input is a question that a file of VS Code asks before it starts a server, or
// a variable of a server.json.
type input struct {
	description string
	initial     string
	secret      bool
	required    bool
}

// marks are the ways in which clients write placeholders. A bare $NAME counts
// where a shell would be meant: in capitals, and not in the middle of a word,
// so that pa$$word and a$B stay as they are.
var marks = regexp.MustCompile(`\$\{([^{}]*)\}` + // ${NAME}, ${env:NAME}, ${NAME:-x}, ${input:id}
	`|\{\{\s*([^{}]{1,100}?)\s*\}\}` + // {{name}}
	`|<(\pL[\pL\pN _.:'(),-]{0,80})>` + // <YOUR_KEY>, <your key (read only)>
	`|%([A-Z_][A-Z0-9_]{2,80})%` + // %NAME%
	`|(?:^|[^A-Za-z0-9_$])\$([A-Z_][A-Z0-9_]+)` + // $NAME
	`|\{((?:env|file):[^{}\s]{1,200})\}`) // {env:NAME}, {file:path}

// pieces cuts a text at its placeholders.
func (f *jsonFile) pieces(text string) []piece {
	var out []piece
	rest := 0
	for _, m := range marks.FindAllStringSubmatchIndex(text, -1) {
		start, end := m[0], m[1]
		group, inner := 0, ""
		for g := 1; g*2 < len(m); g++ {
			if m[g*2] >= 0 {
				group, inner = g, text[m[g*2]:m[g*2+1]]
			}
		}
		if group == 5 {
			start = m[10] - 1 // the byte before the $ is none of it
			if end < len(text) && lower(text[end]) {
				continue // $Name is a word
			}
		}
		hole := f.placeholder(inner, text[start:end])
		if hole == nil {
			continue
		}
		if start > rest {
			out = append(out, piece{literal: text[rest:start]})
		}
		out = append(out, piece{hole: hole})
		rest = end
	}
	if rest < len(text) {
		out = append(out, piece{literal: text[rest:]})
	}
	return out
}

func lower(c byte) bool { return 'a' <= c && c <= 'z' }

// machineWords are the placeholders that stand for something of the machine or
// the editor in which the file lies.
var machineWords = regexp.MustCompile(`^(?:workspace|workspaceRoot|workspaceFolder\w*|projectRoot|userHome|pwd|cwd|file|file[A-Z]\w*|relativeFile\w*|execPath|pathSeparator|/|lineNumber|selectedText|config|command|` +
	`CLAUDE_PLUGIN_\w+|CLAUDE_PROJECT_DIR|HOME|PWD|TMPDIR|USERPROFILE|APPDATA|LOCALAPPDATA|PROGRAMFILES|__dirname|extensionPath)$`)

// Scopes before the name of a placeholder, as in ${env:NAME}. Others, such as
// ${config:x}, say themselves what they stand for.
var (
	plainScopes  = []string{"input", "env", "user_config", "var"}
	secretScopes = []string{"secret", "secrets", "keychain", "vault", "op", "1password", "pass"}
)

// placeholder reads what stands between the marks; nil where that is no name.
func (f *jsonFile) placeholder(inner, text string) *placeholder {
	p := &placeholder{text: text}
	p.parse(strings.TrimSpace(inner))
	if in, ok := f.inputs[p.name]; ok && (p.scope == "" || p.scope == "input") {
		p.use(in)
	}
	p.machine = machineWords.MatchString(p.name)
	if strings.Trim(p.name, " _.-/") == "" && !p.machine {
		return nil
	}
	return p
}

// parse takes NAME, scope:NAME and either with :-initial behind it apart.
func (p *placeholder) parse(inner string) {
	name, initial, given := strings.Cut(inner, ":-")
	if !given {
		name, initial, given = strings.Cut(inner, ":=")
	}
	if bare, rest, ok := strings.Cut(name, "-"); !given && ok && p.text[0] == '$' && variableName.MatchString(bare) { // ${NAME-x}
		name, initial, given = bare, rest, true
	}
	p.name, p.initial, p.given = name, initial, given
	if scope, rest, ok := strings.Cut(name, ":"); ok {
		p.scope, p.name = scope, rest
		switch {
		case slices.Contains(secretScopes, scope):
			p.input = &input{secret: true}
		case !slices.Contains(plainScopes, scope):
			p.name = scope
		}
	}
	p.name = strings.TrimPrefix(strings.TrimPrefix(p.name, "env."), "user_config.")
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (p *placeholder) use(in input) {
	p.input = &in
	if in.initial != "" && !p.given {
		p.initial, p.given = in.initial, true
	}
}

func (p *placeholder) secret() bool {
	return p.input != nil && p.input.secret || namesSecret(p.name)
}

func (p *placeholder) description() string {
	if p.input == nil {
		return ""
	}
	return p.input.description
}

// value is a text of a file, understood.
type value struct {
	text   string
	pieces []piece
	// single is the placeholder that is the whole of it, or for a value that
	// only says what belongs there, such as your-key-here, one without a name.
	single *placeholder
}

// value understands a text that stands under the name.
func (f *jsonFile) value(name, text string) value {
	v := value{text: text, pieces: f.pieces(text)}
	switch {
	case len(v.pieces) == 1 && v.pieces[0].hole != nil:
		v.single = v.pieces[0].hole
	case v.literal() && standsIn(text, namesSecret(name)):
		v.single = &placeholder{text: text}
	}
	return v
}

// literal reports whether nothing in it is to be filled in.
func (v value) literal() bool {
	for _, p := range v.pieces {
		if p.hole != nil {
			return false
		}
	}
	return v.single == nil
}

// secret reports whether one of its placeholders is for a secret, or its text
// is one.
func (v value) secret() bool {
	for _, p := range v.pieces {
		if p.hole != nil && p.hole.secret() || holdsSecret(p.literal) {
			return true
		}
	}
	return v.literal() && holdsSecret(v.text)
}

// machine reports whether it needs something of the machine that it was
// written on.
func (v value) machine() bool {
	for _, p := range v.pieces {
		if p.hole != nil && p.hole.machine {
			return true
		}
	}
	return false
}

// filled is the text with every placeholder at its initial value; false where
// one has none.
func (v value) filled() (string, bool) {
	if v.single != nil && v.single.name == "" {
		return "", false
	}
	var b strings.Builder
	for _, p := range v.pieces {
		if p.hole != nil && !p.hole.given {
			return "", false
		}
		b.WriteString(p.literal)
		if p.hole != nil {
			b.WriteString(p.hole.initial)
		}
	}
	return b.String(), true
}

// form shows how the text is put together, for who has to give the whole of it.
// Literal parts that may be secret are not shown.
func (v value) form() string {
	var b strings.Builder
	for _, p := range v.pieces {
		switch {
		case p.hole != nil:
			b.WriteString("{" + p.hole.name + "}")
		case holdsSecret(p.literal):
			b.WriteString("…")
		default:
			b.WriteString(p.literal)
		}
	}
	return clip(b.String(), 200)
}

// description is that of the first of its placeholders which has one.
func (v value) description() string {
	for _, p := range v.pieces {
		if p.hole != nil && p.hole.description() != "" {
			return p.hole.description()
		}
	}
	return ""
}

// hint matches texts that only say what belongs in their place. Where a secret
// belongs, weakHint does too: elsewhere a my-bucket may be meant.
var (
	hint     = regexp.MustCompile(`(?i)^(?:(?:your|insert|enter|replace|paste|put)[-_ ].*|.*[-_ ]here|(?:[a-z]{2,10}[-_])*(?:x{3,}|\*{3,}|\.{3}|…)[-_x*.]*|change[-_ ]?me|todo|tbd|placeholder|\[[^\]]*\]|\{[\pL_][\pL\pN_ -]*\})$`)
	weakHint = regexp.MustCompile(`(?i)^(?:(?:my|add|the|some|example|sample|dummy|test|fake)[-_ ].*|.*your.*|secret|password|token|(?:api[-_ ]?)?key|.*\.\.\.)$`)
)

// standsIn reports whether the whole text is only there to be replaced.
func standsIn(text string, secret bool) bool {
	text = strings.TrimSpace(text)
	return text == "" || len(text) <= 100 && (hint.MatchString(text) || secret && weakHint.MatchString(text))
}
