package interchange

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
)

var (
	urlKeys       = []string{"url", "httpUrl", "baseUrl", "serverUrl", "endpoint", "uri", "serverURL", "baseURL", "http_url", "base_url", "server_url"}
	commandKeys   = []string{"command", "cmd"}
	transportKeys = []string{"type", "transport", "transportType", "transport_type"}
	headerKeys    = []string{"headers", "requestHeaders", "http_headers"}
	envKeys       = []string{"env", "environment"}
	bearerKeys    = []string{"authorization_token", "bearerToken", "bearer_token", "authorizationToken"}
)

// transports are the words of clients for the ways to reach a server, folded
// to small letters without separators.
var transports = map[string]string{
	"stdio": "stdio", "local": "stdio", "docker": "stdio",
	"http": "http", "streamablehttp": "http", "streamable": "http", "httpstream": "http", "httpstreamable": "http", "remote": "http", "https": "http", "url": "http",
	"sse": "sse", "httpsse": "sse",
}

const transportWords = "stdio, http, streamable-http, streamableHttp, streamable_http, sse"

var separators = strings.NewReplacer("-", "", "_", "", " ", "", "+", "")

// way is how a file says that its server is reached.
type way struct {
	kind         string // of transports, "" where the file does not say
	url, command string
	image        string
	args         []string
	headers, env *object
	bearer       string   // a token that stands beside the address
	unread       []string // keys whose values are of no kind that is known
}

// wayOf reads what a file says of the transport, beside the other keys or in an
// object of its own. An unknown word is the fault.
func wayOf(o *object) (way, *fault.Fault) {
	w := way{}
	for _, part := range append([]*object{o}, nested(o)...) {
		for _, k := range transportKeys {
			word, ok := part.values[k].(string)
			if !ok || w.kind != "" {
				continue
			}
			if w.kind, ok = transports[separators.Replace(strings.ToLower(strings.TrimSpace(word)))]; !ok {
				return w, fault.New(fault.Invalid, "unknown_transport", "%q is no transport that is known here; the words are %s.", clip(capability.PlainText(word), 40), transportWords).
					With("word", clip(capability.PlainText(word), 40)).With("words", transportWords).
					Do("Correct the transport in the file and import it again.")
			}
		}
		w.fill(part)
	}
	return w, nil
}

// nested are the objects in which some clients put the transport.
func nested(o *object) []*object {
	var out []*object
	for _, k := range append(append([]string{}, transportKeys...), "command", "remote") {
		if part := o.object(k); part != nil {
			out = append(out, part)
		}
	}
	return out
}

func (w *way) fill(o *object) {
	w.url = cmp.Or(w.url, strings.TrimSpace(o.text(urlKeys...)))
	w.image = cmp.Or(w.image, strings.TrimSpace(o.text("image")))
	w.bearer = cmp.Or(w.bearer, o.text(bearerKeys...))
	if w.command == "" {
		w.command = o.text("command", "cmd", "path")
	}
	if list := texts(o.list(commandKeys...)); w.command == "" && len(list) > 0 {
		w.command, w.args = list[0], list[1:]
	}
	if w.args == nil {
		w.args = texts(o.list("args", "arguments"))
	}
	if line := o.text("args", "arguments"); w.args == nil && line != "" {
		w.args = strings.Fields(line)
	}
	w.pairs(o, &w.headers, headerKeys, ":")
	w.pairs(o, &w.env, envKeys, "=")
}

// pairs takes an object of texts, or a list that spells one: "name=text", or
// objects with a name and a value.
func (w *way) pairs(o *object, into **object, keys []string, mark string) {
	for _, k := range keys {
		v := o.values[k]
		if *into != nil || v == nil {
			continue
		}
		switch v := v.(type) {
		case *object:
			*into = v
		case []any:
			*into = pairList(v, mark)
		default:
			w.unread = append(w.unread, k)
		}
	}
}

func pairList(list []any, mark string) *object {
	out := &object{values: map[string]any{}}
	for _, e := range list {
		switch e := e.(type) {
		case string:
			name, text, _ := strings.Cut(e, mark)
			out.set(strings.TrimSpace(name), strings.TrimSpace(text))
		case *object:
			out.set(e.text("name", "key"), e.text("value"))
		}
	}
	return out
}

// texts are the texts of a list; what is none of a text, a number or a
// boolean is left out.
func texts(list []any) []string {
	var out []string
	for _, v := range list {
		if s, ok := scalar(v); ok {
			out = append(out, s)
		}
	}
	return out
}

// connect decides how the server is reached: by what its importer supplied,
// else by what the file says.
func (m *maker) connect(o *object) *fault.Fault {
	if at := nulIn(o); at != "" {
		return zeroByte(at)
	}
	w, f := wayOf(o)
	if len(w.unread) > 0 {
		m.note("keys_not_used", "These keys of the file are not used here: %s.", strings.Join(w.unread, ", "))
	}
	supplied := m.supply.URL != "" || m.supply.Image != ""
	if f != nil && !supplied {
		m.wants(WantImage, WantURL)
		return f
	}
	switch {
	case supplied:
		return m.supplied(w)
	case w.url != "" && w.command != "":
		m.wants(WantImage, WantURL)
		return fault.New(fault.Invalid, "url_and_command", "The server has an address and a command as well; one of them has to be meant.").
			Do("Say which address or image it is, or take one of the two out of the file.")
	case w.url != "":
		return m.remote(w)
	case w.command != "":
		return m.command(w)
	case w.image != "":
		m.image(w.image, w.args, w.env)
		return nil
	}
	m.wants(WantImage, WantURL)
	return nothingToConnect()
}

func nothingToConnect() *fault.Fault {
	return fault.New(fault.Invalid, "nothing_to_connect", "The file says neither an address nor a command for this server.").
		Do("Give its address or an image.")
}

func zeroByte(at string) *fault.Fault {
	return fault.New(fault.Invalid, "zero_byte", "The text under %s holds a zero byte, which no command, address or variable may.", clip(at, 80)).
		Do(correctFile).With("place", clip(at, 80))
}

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

// remote makes a server that is reached by its address.
func (m *maker) remote(w way) *fault.Fault {
	switch w.kind {
	case "sse":
		m.legacy()
	case "stdio":
		m.note("transport_differs", "The file says stdio but gives an address; the address was taken.")
	}
	if len(w.url) > maxAddress {
		m.spec.URL = w.url[:maxAddress] // longer than any that is valid
		return nil
	}
	m.address(w.url)
	if w.bearer != "" && !hasHeader(w.headers, "Authorization") {
		v := m.file.value("Authorization", "Bearer "+w.bearer)
		if f := m.header(capability.RequiredSecret{}, "Authorization", v); f != nil {
			return f
		}
	}
	if f := m.headers(w.headers); f != nil {
		return f
	}
	m.environmentOfRemote(w.env)
	return nil
}

func (m *maker) legacy() {
	m.note("legacy_sse", "The file calls this an SSE server. capstore speaks Streamable HTTP, which most of them answer at the same address; check that this one does.")
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

const maxAddress = 8192

func hasHeader(o *object, name string) bool {
	return o != nil && slices.ContainsFunc(o.keys, func(k string) bool { return strings.EqualFold(k, name) })
}

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
	if v.single != nil && v.single.name != "" {
		s.Name = secretName(v.single.name)
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

// nulIn finds a zero byte in a text of the object and names its place, "" for
// none.
func nulIn(v any) string {
	switch v := v.(type) {
	case string:
		if strings.ContainsRune(v, 0) {
			return "/"
		}
	case []any:
		for i, e := range v {
			if at := nulIn(e); at != "" {
				return fmt.Sprintf("/%d%s", i, strings.TrimSuffix(at, "/"))
			}
		}
	case *object:
		for _, k := range v.keys {
			if strings.ContainsRune(k, 0) {
				return "/"
			}
			if at := nulIn(v.values[k]); at != "" {
				return "/" + capability.PlainText(k) + strings.TrimSuffix(at, "/")
			}
		}
	}
	return ""
}
