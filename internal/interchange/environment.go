package interchange

import (
	"cmp"
	"regexp"
	"strings"

	"capstore/internal/capability"
)

var variablePattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// environment declares each variable of a server's environment.
func (m *maker) environment(o *object) {
	if o == nil {
		return
	}
	for _, name := range o.keys {
		text, ok := scalar(o.values[name])
		if !ok && o.values[name] != nil {
			m.note("variable_dropped", "The variable %s is left out: its value is no text.", clip(capability.PlainText(name), 60))
			continue
		}
		m.variable(name, text, input{})
	}
}

// variable declares one variable as the secret or the setting that it is. in
// says what is known of it beside its name and its text.
func (m *maker) variable(name, text string, in input) {
	switch {
	case !variablePattern.MatchString(name):
		m.note("variable_dropped", "The variable %s is left out: this is no name of one.", clip(capability.PlainText(name), 60))
		return
	case capability.ReservedVariable(name) || strings.HasPrefix(name, "DYLD_"):
		m.note("variable_reserved", "The variable %s is left out: it changes how programs are loaded or run, and no capability may set it.", name)
		return
	case m.full(), m.declares(name):
		return
	}
	v := m.file.value(name, text)
	if v.machine() {
		m.note("machine_path", "%s held something of the machine that the file was made on: %s.", name, v.form())
	}
	if in.secret || namesSecret(name) || v.secret() {
		m.secretVariable(name, v, in)
		return
	}
	s := capability.Setting{Name: name, Description: cmp.Or(in.description, v.description()), Required: in.required}
	if initial, ok := v.filled(); ok && !v.machine() {
		s.Default = initial
	} else if v.single == nil && !v.machine() {
		s.Description = cmp.Or(s.Description, "In the form "+v.form())
	}
	s.Default = cmp.Or(s.Default, in.initial)
	// What the file leaves open, its server waits for; an empty text it may do without.
	s.Required = s.Default == "" && text != "" && !v.literal() || in.required
	m.setting(s)
}

// declares reports whether the variable is declared already.
func (m *maker) declares(name string) bool {
	for _, s := range m.spec.RequiredSecrets {
		if s.Header == "" && s.Variable() == name {
			return true
		}
	}
	for _, s := range m.spec.Settings {
		if s.Name == name {
			return true
		}
	}
	return false
}

func (m *maker) secretVariable(name string, v value, in input) {
	s := capability.RequiredSecret{Name: secretName(name), Description: cmp.Or(in.description, v.description())}
	if !v.literal() && v.single == nil {
		s.Description = cmp.Or(s.Description, "In the form "+v.form())
	}
	declared := m.declare(s)
	if declared != name {
		m.spec.RequiredSecrets[len(m.spec.RequiredSecrets)-1].Env = name
	}
	switch {
	case v.literal():
		m.keep(declared, v.text)
	case v.single != nil && v.single.given && !standsIn(v.single.initial, true):
		m.keep(declared, v.single.initial)
	case !standsIn(in.initial, true):
		m.keep(declared, in.initial)
	}
}

// arguments keeps what an image is started with. An argument is published and
// can be read by every process of the machine, so that one that holds a secret
// or waits for a value becomes a variable instead.
func (m *maker) arguments(args []string) {
	for i := 0; i < len(args); i++ {
		option, text, joined := strings.Cut(args[i], "=")
		if !strings.HasPrefix(option, "-") {
			option, text, joined = "", args[i], false
		}
		if option != "" && !joined && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") && m.special(option, args[i+1]) {
			m.argument(option, args[i+1], false)
			i++
			continue
		}
		if m.special(option, text) && (joined || option == "") {
			m.argument(option, text, joined)
			continue
		}
		m.spec.Args = append(m.spec.Args, args[i])
	}
}

// special reports whether the text of an argument cannot stay as it is.
func (m *maker) special(option, text string) bool {
	v := m.file.value(option, text)
	switch {
	case !v.literal():
		return v.single == nil || v.single.name != "" || option != "" && namesSecret(strings.TrimLeft(option, "-"))
	case option != "" && text != "" && namesSecret(strings.TrimLeft(option, "-")):
		return capability.HoldsSecret(strings.TrimLeft(option, "-") + "=" + text)
	}
	return holdsSecret(text)
}

// argument declares what stood in an argument as a variable, or keeps it where
// it only waits for what the file says itself.
func (m *maker) argument(option, text string, joined bool) {
	v := m.file.value(option, text)
	name := variableFor(option, v)
	secret := v.secret() || option != "" && namesSecret(strings.TrimLeft(option, "-"))
	if initial, ok := v.filled(); ok && !secret && !v.machine() && !v.literal() {
		switch {
		case joined:
			initial = option + "=" + initial
		case option != "":
			m.spec.Args = append(m.spec.Args, option)
		}
		m.spec.Args = append(m.spec.Args, initial)
		m.note("argument_filled", "The argument %s was kept with the value that the file gives for it.", clip(cmp.Or(option, initial), 60))
		return
	}
	shown := clip(cmp.Or(option, name), 60)
	if kind, _, ok := strings.Cut(text, "://"); ok && option == "" {
		shown = clip(kind, 20) + "://…"
	}
	if secret {
		m.note("argument_secret", "The argument %s carried a secret, which every process of a machine can read. It became the variable %s; check that the server reads it there.", shown, name)
	} else {
		m.note("argument_setting", "The argument %s waits for a value. It became the variable %s; check that the server reads it there.", shown, name)
	}
	m.variable(name, text, input{secret: secret})
}

// variableFor names the variable that an argument becomes.
func variableFor(option string, v value) string {
	name := snakeCase(option)
	for _, p := range v.pieces {
		if p.hole != nil && p.hole.name != "" {
			name = p.hole.name
			break
		}
	}
	if kind, _, ok := strings.Cut(v.text, "://"); ok && name == "" {
		name = kind + "_url"
	}
	return secretName(name)
}
