package interchange

import (
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
)

// supplied takes what the importer gave in place of what the file has.
func (m *maker) supplied(w way) *fault.Fault {
	w = m.behind(w)
	if m.supply.URL != "" {
		w.url = strings.TrimSpace(m.supply.URL)
		m.note("url_supplied", "The address was supplied at the import; the file has another way to start it.")
		return m.remote(w)
	}
	m.note("image_supplied", "The image was supplied at the import; the file has another way to start it.")
	m.image(strings.TrimSpace(m.supply.Image), w.args, w.env)
	return nil
}

// behind is what a command passes on to the server itself: the arguments and
// variables of a container, the arguments behind a package. Those of any other
// program are its own.
func (m *maker) behind(w way) way {
	w = plain(w)
	if run, ok := runOf(w); ok {
		r := readRun(run)
		w.args, w.env = r.args, r.environment(w.env)
		return w
	}
	name, args := launched(w)
	if name == "" && w.command != "" && len(w.args) > 0 {
		m.note("arguments_dropped", "The arguments of %s are left out: they start it on its machine.", clip(capability.PlainText(program(w.command)), 40))
	}
	if w.command != "" {
		w.args = args
	}
	return w
}

// environmentOfRemote keeps what a command would have got in its environment
// and an address cannot be given: the first secret as its authorization,
// everything else as a setting that the address may use.
func (m *maker) environmentOfRemote(env *object) {
	if env == nil {
		return
	}
	inner := &maker{file: m.file, spec: &capability.MCPSpec{}, found: map[string]string{}, item: Item{Path: m.item.Path}}
	inner.environment(env)
	m.carryOver(inner)
}

// carryOver takes the declarations of an environment to a server that has none.
func (m *maker) carryOver(inner *maker) {
	m.hidden = append(m.hidden, inner.hidden...)
	for _, s := range inner.spec.Settings {
		m.setting(s)
	}
	m.item.Notes = append(m.item.Notes, inner.item.Notes...)
	for _, s := range inner.spec.RequiredSecrets {
		if len(m.spec.RequiredSecrets) > 0 {
			m.note("variable_dropped", "The variable %s is left out: a server that is reached by its address gets no environment.", s.Variable())
			continue
		}
		m.note("variable_as_header", "%s was a variable of the command; the server at this address gets it in the Authorization header.", s.Variable())
		name := m.declare(capability.RequiredSecret{Name: s.Name, Description: s.Description})
		if v, ok := inner.found[s.Name]; ok {
			m.found[name] = v
		}
	}
}
