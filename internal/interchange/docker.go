package interchange

import (
	"path"
	"slices"
	"strings"

	"capstore/internal/fault"
)

// run is a "docker run" taken apart.
type run struct {
	image   string
	args    []string
	env     []passed
	files   int // --env-file
	mounts  []string
	dropped []string // options that mean nothing here
	danger  []string // options that would open the machine to the container
	odd     string   // the first option that is not known
}

// passed is a variable that a container is given. One without a text has that
// of the engine's own environment.
type passed struct {
	name, text string
	given      bool
}

// valued are the options of docker run that take a value, with what becomes of
// it.
var valued = map[string]func(*run, string){
	"e": (*run).variable, "env": (*run).variable,
	"env-file": func(r *run, _ string) { r.files++ },
	"v":        (*run).volume, "volume": (*run).volume, "mount": (*run).volume,
	"network": hosted("network"), "net": hosted("network"), "pid": hosted("pid"), "ipc": hosted("ipc"), "uts": hosted("uts"), "userns": hosted("userns"), "cgroupns": hosted("cgroupns"),
	"u": (*run).user, "user": (*run).user,
	"cap-add": dangerous("--cap-add"), "device": dangerous("--device"), "security-opt": (*run).security, "volumes-from": dangerous("--volumes-from"),
	"device-cgroup-rule": dangerous("--device-cgroup-rule"), "cgroup-parent": dangerous("--cgroup-parent"), "runtime": dangerous("--runtime"), "group-add": dangerous("--group-add"),
	"entrypoint": dangerous("--entrypoint"), "gpus": dangerous("--gpus"), "sysctl": dangerous("--sysctl"),
}

// harmless are the options that only say how a container is run, and do not
// matter where it is run otherwise.
var (
	harmlessValued = words("name w workdir p publish platform l label label-file h hostname m memory memory-swap memory-reservation memory-swappiness cpus c cpu-shares cpuset-cpus cpuset-mems cpu-period cpu-quota " +
		"add-host dns dns-search dns-option log-driver log-opt pull restart tmpfs ulimit shm-size expose stop-signal stop-timeout cidfile pids-limit network-alias net-alias link ip ip6 mac-address a attach annotation domainname cap-drop storage-opt " +
		"health-cmd health-interval health-retries health-timeout health-start-period oom-score-adj blkio-weight isolation detach-keys volume-driver")
	harmlessFlags = words("i interactive t tty rm d detach P publish-all init read-only no-healthcheck sig-proxy quiet q disable-content-trust oom-kill-disable help replace")
	silent        = words("i interactive t tty rm init")
)

func dangerous(option string) func(*run, string) {
	return func(r *run, _ string) { r.danger = append(r.danger, option) }
}

// hosted is an option that may share what is the machine's, or another
// container's.
func hosted(option string) func(*run, string) {
	return func(r *run, v string) {
		if v == "host" || strings.HasPrefix(v, "container:") {
			r.danger = append(r.danger, "--"+option+" "+v)
			return
		}
		r.dropped = append(r.dropped, "--"+option)
	}
}

func (r *run) variable(v string) {
	name, text, given := strings.Cut(v, "=")
	r.env = append(r.env, passed{name, text, given})
}

func (r *run) user(v string) {
	if name, _, _ := strings.Cut(v, ":"); name == "0" || name == "root" {
		r.danger = append(r.danger, "--user "+name)
		return
	}
	r.dropped = append(r.dropped, "--user")
}

func (r *run) security(v string) {
	if strings.HasPrefix(v, "no-new-privileges") {
		r.dropped = append(r.dropped, "--security-opt")
		return
	}
	r.danger = append(r.danger, "--security-opt")
}

// volume takes a mount. Those of a socket of the engine, of the root and of the
// folders of the system are dangerous; the others cannot be given here.
func (r *run) volume(v string) {
	v = strings.ReplaceAll(v, "${input:", "{") // what a server.json leaves open
	source := v
	for field := range strings.SplitSeq(v, ",") {
		if k, s, ok := strings.Cut(field, "="); ok && (k == "source" || k == "src") {
			source = s
		}
	}
	from, _, _ := strings.Cut(source, ":")
	clean := path.Clean(from)
	system := slices.ContainsFunc([]string{"/", "/etc", "/proc", "/sys", "/dev", "/root", "/var", "/var/run", "/run", "/usr", "/boot", "/home", "/lib", "/bin", "/sbin"}, func(p string) bool {
		return clean == p
	})
	if system || strings.Contains(v, ".sock") || strings.HasPrefix(clean, "/proc/") || strings.HasPrefix(clean, "/sys/") || strings.HasPrefix(clean, "/dev/") {
		r.danger = append(r.danger, "a mount of "+clip(clean, 60))
		return
	}
	r.mounts = append(r.mounts, clip(from, 60))
}

// readRun takes the words after "run" apart.
func readRun(words []string) run {
	r := run{}
	i := 0
	for i < len(words) && strings.HasPrefix(words[i], "-") && words[i] != "-" && r.odd == "" {
		word := words[i]
		i++
		if word == "--" {
			break
		}
		next := func() string {
			if i < len(words) {
				i++
				return words[i-1]
			}
			return ""
		}
		if long, ok := strings.CutPrefix(word, "--"); ok {
			r.long(long, next)
		} else {
			r.short(word[1:], next)
		}
	}
	if i < len(words) {
		r.image, r.args = words[i], words[i+1:]
	}
	return r
}

func (r *run) long(option string, next func() string) {
	name, value, given := strings.Cut(option, "=")
	switch take := valued[name]; {
	case name == "privileged":
		if value != "false" {
			r.danger = append(r.danger, "--privileged")
		}
	case slices.Contains(harmlessFlags, name):
		r.drop(name)
	case take == nil && !slices.Contains(harmlessValued, name):
		r.odd = "--" + name
	default:
		if !given {
			value = next()
		}
		r.take(name, value)
	}
}

// short reads one-letter options, several in one word or with the value joined.
func (r *run) short(letters string, next func() string) {
	for j := range len(letters) {
		name := letters[j : j+1]
		if slices.Contains(harmlessFlags, name) {
			r.drop(name)
			continue
		}
		if valued[name] == nil && !slices.Contains(harmlessValued, name) {
			r.odd = "-" + name
			return
		}
		value := strings.TrimPrefix(letters[j+1:], "=")
		if value == "" {
			value = next()
		}
		r.take(name, value)
		return
	}
}

func (r *run) take(name, value string) {
	if take := valued[name]; take != nil {
		take(r, value)
		return
	}
	r.drop(name)
}

func (r *run) drop(name string) {
	if slices.Contains(silent, name) {
		return
	}
	dashes := "--"
	if len(name) == 1 {
		dashes = "-"
	}
	r.dropped = append(r.dropped, dashes+name)
}

// runOf gives the words after "run" of a container engine's command, false for
// any other command.
func runOf(w way) ([]string, bool) {
	if !slices.Contains(engines, program(w.command)) {
		return nil, false
	}
	words := w.args
	if len(words) > 2 && (words[0] == "--context" || words[0] == "-c") {
		words = words[2:]
	}
	if len(words) > 0 && words[0] == "container" {
		words = words[1:]
	}
	if len(words) == 0 || words[0] != "run" {
		return nil, false
	}
	return words[1:], true
}

// container makes an image of a "docker run". What would open the machine to
// the container refuses it; what only says how it is run is left out.
func (m *maker) container(w way) *fault.Fault {
	words, ok := runOf(w)
	if !ok {
		return m.needsImage(w)
	}
	r := readRun(words)
	if f := m.judge(r); f != nil {
		return f
	}
	if r.image == "" {
		m.wants(WantImage)
		return fault.New(fault.Invalid, "no_image", "The command names no image.").Do("Give the image.")
	}
	image, ok := m.file.value("image", r.image).filled()
	if !ok {
		m.wants(WantImage)
		return fault.New(fault.Invalid, "no_image", "The image is left open in the file: %s.", clip(r.image, 120)).Do("Give the image.")
	}
	m.runNotes(r)
	m.forEngine(r, w.env)
	m.image(image, r.args, r.environment(w.env))
	return nil
}

// judge refuses what a container gets nowhere here.
func (m *maker) judge(r run) *fault.Fault {
	if r.odd == "" && len(r.danger) == 0 {
		return nil
	}
	m.wants(WantImage)
	if r.odd != "" {
		return fault.New(fault.Invalid, "container_option", "The option %s of the container engine is not known here, so that what follows it cannot be told.", clip(r.odd, 40)).
			With("option", clip(r.odd, 40)).
			Do("Give the image, or take the option out of the file.")
	}
	danger := clip(strings.Join(r.danger, ", "), 200)
	return fault.New(fault.Invalid, "container_privileges", "The file asks for what no container gets here: %s.", danger).
		With("what", danger).
		Do("Give an image that works without, or take it out of the file.")
}

func (m *maker) runNotes(r run) {
	if len(r.dropped) > 0 {
		m.note("container_options", "Options that say how the container is run were left out: %s.", clip(strings.Join(slices.Compact(r.dropped), ", "), 200))
	}
	if len(r.mounts) > 0 {
		m.note("mount_dropped", "Folders of the machine are not mounted here: %s.", clip(strings.Join(r.mounts, ", "), 200))
	}
	if r.files > 0 {
		m.note("env_file", "The file of variables that the server is started with is not read; declare what it holds.")
	}
}

// environment is what the container gets: a variable that the options name
// without a value has that of the entry's own environment. What only the
// environment names is for the engine, and reaches no container.
func (r *run) environment(outer *object) *object {
	out := &object{values: map[string]any{}}
	for _, e := range r.env {
		text := any(e.text)
		if v, ok := outerValue(outer, e.name); ok && !e.given {
			text = v
		}
		out.set(e.name, text)
	}
	return out
}

// forEngine notes the variables of the entry that reach no container, because
// no option passes them on.
func (m *maker) forEngine(r run, outer *object) {
	if outer == nil {
		return
	}
	for _, name := range outer.keys {
		if !slices.ContainsFunc(r.env, func(e passed) bool { return e.name == name }) {
			m.note("variable_dropped", "The variable %s is left out: the command does not pass it on to the container.", clip(name, 60))
		}
	}
}

func outerValue(outer *object, name string) (any, bool) {
	if outer == nil {
		return nil, false
	}
	v, ok := outer.values[name]
	return v, ok
}

// image makes a server that is an image serving MCP over stdio.
func (m *maker) image(image string, args []string, env *object) {
	m.spec.Image = strings.TrimPrefix(image, "docker://")
	m.environment(env)
	m.arguments(args)
}
