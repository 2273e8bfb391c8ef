package toolschema

import (
	"regexp"
	"time"

	"github.com/dlclark/regexp2/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	// maxSteps bounds the subschemas visited in one validation. A recursive
	// schema with alternatives costs alternatives^depth; real calls take a few
	// hundred steps, and a million run for about a second.
	maxSteps = 200_000
	// matchTimeout bounds one match of a backtracking pattern, maxTimeouts how
	// many may run into it before the rest of a validation fails at once.
	matchTimeout = 100 * time.Millisecond
	maxTimeouts  = 3
	maxPattern   = 4 << 10
)

// meter counts the work of one validation. The compiled schema holds it, so
// its owner serialises validations.
type meter struct{ steps, timeouts int }

type tooComplex struct{}

func (m *meter) reset() { *m = meter{} }

// vocabulary hooks the meter into every subschema: it adds no keyword.
func (m *meter) vocabulary() *jsonschema.Vocabulary {
	return &jsonschema.Vocabulary{
		URL: "schema:///meter",
		Compile: func(*jsonschema.CompilerContext, map[string]any) (jsonschema.SchemaExt, error) {
			return m, nil
		},
	}
}

// Validate implements jsonschema.SchemaExt. It panics with tooComplex when the
// budget is spent, for the library offers no other way out of a validation.
func (m *meter) Validate(*jsonschema.ValidatorContext, any) {
	if m.steps++; m.steps > maxSteps {
		panic(tooComplex{})
	}
}

// compilePattern reads a pattern by Go's linear engine, and by a backtracking
// one with a time limit where it needs what Go's has not (look-ahead, \u). One
// that neither can read matches everything and gives false.
func compilePattern(p string, m *meter) (jsonschema.Regexp, bool) {
	if len(p) > maxPattern {
		return anything(p), false
	}
	if re, err := regexp.Compile(p); err == nil {
		return re, true
	}
	re, err := regexp2.Compile(p, regexp2.ECMAScript|regexp2.Unicode)
	if err != nil {
		return anything(p), false
	}
	re.MatchTimeout = matchTimeout
	return &backtracker{re, m}, true
}

type anything string

func (a anything) String() string        { return string(a) }
func (anything) MatchString(string) bool { return true }

type backtracker struct {
	*regexp2.Regexp
	meter *meter
}

// MatchString is false when the time is up: an unfinished check is no pass.
func (b *backtracker) MatchString(s string) bool {
	if b.meter.timeouts >= maxTimeouts {
		return false
	}
	ok, err := b.Regexp.MatchString(s)
	if err != nil {
		b.meter.timeouts++
	}
	return err == nil && ok
}
