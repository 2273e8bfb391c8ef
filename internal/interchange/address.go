package interchange

import (
	"cmp"
	"encoding/base64"
	"net/textproto"
	"regexp"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
)

var (
	userPart  = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*://)([^/?#@]*)@`)
	bracePart = regexp.MustCompile(`\{([^{}]*)\}`)
	// openPart is what an address leaves open without the marks of a client:
	// {name}, and YOUR_NAME in capitals, which no address holds as its own.
	openPart = regexp.MustCompile(`\{[^{}]*\}|\bYOUR_[A-Z0-9_]+`)
)

// address takes the address of a server: its placeholders become settings that
// it is filled with, and a secret in it is taken out, since an address is no
// secret to anybody.
func (m *maker) address(text string) *fault.Fault {
	text, f := m.opened(strings.TrimSpace(text))
	if f != nil {
		return f
	}
	if part := userPart.FindStringSubmatch(text); part != nil {
		text = part[1] + text[len(part[0]):]
		m.userInfo(part[2])
	}
	path, query, asked := strings.Cut(text, "?")
	path = m.addressPath(path)
	var kept []string
	for pair := range strings.SplitSeq(query, "&") {
		if asked && pair != "" && !m.moved(pair) {
			kept = append(kept, m.settled(pair))
		}
	}
	if len(kept) > 0 {
		path += "?" + strings.Join(kept, "&")
	}
	m.spec.URL = path
	return nil
}

// opened fills in a placeholder that stands for the whole address or its
// beginning, as far as the file says what belongs there: which server it is can
// be no setting.
func (m *maker) opened(text string) (string, *fault.Fault) {
	hole := m.beginning(text)
	if hole == nil {
		return text, nil
	}
	if !strings.Contains(hole.initial, "://") {
		m.wants(WantURL)
		shown := clip(hole.text, 60)
		return "", fault.New(fault.Invalid, "address_open", "The address is left open in the file: it begins with %s.", shown).
			With("what", shown).Do("Give the address.")
	}
	m.note("address_filled", "%s is the beginning of the address and was filled in with what the file gives for it.", clip(hole.name, 60))
	return hole.initial + strings.TrimPrefix(text, hole.text), nil
}

// beginning is the placeholder that the text begins with, nil for none.
func (m *maker) beginning(text string) *placeholder {
	if at := openPart.FindStringIndex(text); at != nil && at[0] == 0 && text[0] != '{' {
		return m.file.placeholder(text[:at[1]], text[:at[1]])
	}
	if parts := m.file.pieces(text); len(parts) > 0 {
		return parts[0].hole
	}
	return nil
}

// userInfo declares the user and password of an address, which HTTP sends as
// the authorization of the scheme Basic.
func (m *maker) userInfo(text string) {
	v := m.file.value("password", text)
	name := m.declare(capability.RequiredSecret{Name: m.ownName("BASIC_CREDENTIALS"), Scheme: "Basic", Description: "user:password, encoded as base64"})
	m.note("secret_moved", "The address carried a user and a password. They were taken out of it and are sent in the Authorization header.")
	if v.literal() && text != "" {
		m.keep(name, base64.StdEncoding.EncodeToString([]byte(text)))
		m.hidden = append(m.hidden, text)
	}
}

// moved takes a parameter that carries a secret out of the address, and
// reports whether it was one.
func (m *maker) moved(pair string) bool {
	key, text, _ := strings.Cut(pair, "=")
	v := m.file.value(key, text)
	if bracePart.FindString(text) == text { // {name}, as a server.json writes it
		v = m.file.value(key, "{"+text+"}")
	}
	if !v.secret() && (!namesSecret(key) || text == "") {
		return false
	}
	name := m.ownName(key)
	if v.single != nil && v.single.name != "" {
		name = m.holeSecret(v.single)
	}
	s := capability.RequiredSecret{Name: name, Description: v.description()}
	if len(m.spec.RequiredSecrets) > 0 {
		s.Header = textproto.CanonicalMIMEHeaderKey("x-" + strings.TrimPrefix(strings.ReplaceAll(snakeCase(key), "_", "-"), "x-"))
	}
	declared := m.declare(s)
	m.note("secret_moved", "The address carried a secret as %s. It was taken out of it and is sent in the header %s; check that the server takes it there.", clip(key, 60), cmp.Or(s.Header, "Authorization"))
	if v.literal() {
		m.keep(declared, text)
	}
	return true
}

// addressPath settles the part before the query, and takes tokens out that
// stand in it.
func (m *maker) addressPath(text string) string {
	lead, rest, _ := strings.Cut(text, "://")
	if lead == text {
		lead, rest = "", text
	} else {
		lead += "://"
	}
	segments := strings.Split(m.settled(rest), "/")
	for i, s := range segments {
		if i == 0 || !holdsSecret(s) {
			continue
		}
		m.hidden = append(m.hidden, s)
		m.setting(capability.Setting{Name: "ADDRESS_KEY", Description: "The part of the address that lets its bearer in", Required: true})
		segments[i] = "{ADDRESS_KEY}"
		m.note("secret_in_address", "A part of the address looks like a secret. It was taken out and is asked for when the server is adopted; whoever may see the adoption can read it there.")
	}
	return lead + strings.Join(segments, "/")
}

// settled writes every placeholder of a part of an address as the setting that
// it declares.
func (m *maker) settled(text string) string {
	var b strings.Builder
	for _, p := range m.file.pieces(text) {
		if p.hole == nil {
			b.WriteString(openPart.ReplaceAllStringFunc(p.literal, m.open))
			continue
		}
		b.WriteString("{" + m.addressSetting(p.hole) + "}")
	}
	return b.String()
}

// open settles {name}, as a server.json writes it, and YOUR_NAME.
func (m *maker) open(text string) string {
	hole := m.file.placeholder(strings.Trim(text, "{}"), text)
	if hole == nil {
		return text
	}
	return "{" + m.addressSetting(hole) + "}"
}

func (m *maker) addressSetting(p *placeholder) string {
	name := settingName(p.name)
	switch {
	case p.machine:
		m.note("machine_path", "%s is something of the machine that the file was made on; it has to be given when the server is adopted.", clip(p.text, 60))
	case p.secret():
		m.note("secret_in_address", "%s looks like a secret and is a part of the address: whoever may see the adoption can read it there.", clip(p.text, 60))
	}
	initial := p.initial
	if p.secret() && initial != "" {
		m.hidden = append(m.hidden, initial)
		initial = ""
	}
	m.setting(capability.Setting{Name: name, Description: p.description(), Default: initial, Required: initial == ""})
	return name
}
