package interchange

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
)

var scheme = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_-]{0,30})[ ]+(\S.*)$`)

// headers declares what each header carries. capstore sends nothing in a header
// but what is bound, so that plain values become bindings too.
func (m *maker) headers(o *object) *fault.Fault {
	if o == nil {
		return nil
	}
	for _, name := range o.keys {
		text, ok := scalar(o.values[name])
		if !ok {
			m.note("header_dropped", "The header %s is left out: its value is no text.", clip(capability.PlainText(name), 60))
			continue
		}
		if f := m.header(capability.RequiredSecret{}, name, m.file.value(name, strings.TrimSpace(text))); f != nil {
			return f
		}
	}
	return nil
}

// header declares the secret that a header carries. s says what is known of it
// beside.
func (m *maker) header(s capability.RequiredSecret, name string, v value) *fault.Fault {
	shown := clip(capability.PlainText(name), 60)
	if m.full() {
		return nil
	}
	if !capability.SettableHeader(name) {
		m.note("header_dropped", "The header %s is left out: the client itself says it.", shown)
		return nil
	}
	if slices.ContainsFunc(m.spec.RequiredSecrets, func(o capability.RequiredSecret) bool {
		return strings.EqualFold(cmp.Or(o.Header, "Authorization"), name)
	}) {
		m.note("header_dropped", "The header %s is left out: it stands there twice.", shown)
		return nil
	}
	authorization := strings.EqualFold(name, "Authorization")
	s.Header = name
	rest := v
	if word, after, ok := schemeOf(v.text); ok {
		inner := m.file.value(name, after)
		if authorization || inner.single != nil {
			s.Scheme, rest = word, inner
		}
	}
	switch {
	case !authorization:
	case s.Scheme == "" && rest.single == nil && !rest.literal():
		return fault.New(fault.Invalid, "header_not_possible", "The Authorization header is put together in a way that cannot be kept: %s.", rest.form()).
			With("form", rest.form()).
			Do("Give it as a scheme and one placeholder, such as Bearer ${TOKEN}.")
	case s.Scheme == "":
		m.note("scheme_assumed", "The Authorization header has no scheme in the file; Bearer is sent before the secret.")
		s.Header = ""
	case strings.EqualFold(s.Scheme, "Bearer"):
		s.Header, s.Scheme = "", ""
	default:
		s.Header = ""
	}
	m.headerSecret(s, name, rest)
	return nil
}

func schemeOf(text string) (word, after string, ok bool) {
	m := scheme.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return "", "", false
	}
	return m[1], m[2], true
}

func (m *maker) headerSecret(s capability.RequiredSecret, header string, v value) {
	s.Name = m.ownName(header)
	if strings.EqualFold(header, "Authorization") {
		s.Name = m.ownName("TOKEN")
	}
	if v.single != nil && v.single.name != "" && !v.single.machine {
		s.Name = m.holeSecret(v.single)
	}
	s.Description = cmp.Or(s.Description, v.description())
	switch {
	case v.single == nil && !v.literal():
		s.Description = cmp.Or(s.Description, "The whole value of the header "+header+", in the form "+v.form())
		m.note("header_whole", "The header %s is put together of several parts; its whole value becomes one secret.", clip(header, 60))
	case !namesSecret(header) && !namesSecret(s.Name) && !v.secret():
		m.note("header_as_secret", "The header %s is bound like a secret: nothing else is sent in headers.", clip(header, 60))
	}
	name := m.declare(s)
	switch {
	case v.literal():
		m.keep(name, v.text)
	case v.single != nil && v.single.given && !standsIn(v.single.initial, true):
		m.keep(name, v.single.initial)
	}
}
