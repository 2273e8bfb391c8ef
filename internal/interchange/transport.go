package interchange

import (
	"cmp"
	"fmt"
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
// object of its own. An unknown word is the fault; the rest is read all the same.
func wayOf(o *object) (w way, f *fault.Fault) {
	for _, part := range append([]*object{o}, nested(o)...) {
		word := strings.TrimSpace(part.text(transportKeys...))
		if word != "" && w.kind == "" && f == nil {
			w.kind, f = transportOf(word)
		}
		w.fill(part)
	}
	return w, f
}

func transportOf(word string) (string, *fault.Fault) {
	if kind, ok := transports[separators.Replace(strings.ToLower(word))]; ok {
		return kind, nil
	}
	shown := clip(capability.PlainText(word), 40)
	return "", fault.New(fault.Invalid, "unknown_transport", "%q is no transport that is known here; the words are %s.", shown, transportWords).
		With("word", shown).With("words", transportWords).
		Do("Correct the transport in the file and import it again.")
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
	if f := m.address(w.url); f != nil {
		return f
	}
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

const maxAddress = 8192

func hasHeader(o *object, name string) bool {
	return o != nil && slices.ContainsFunc(o.keys, func(k string) bool { return strings.EqualFold(k, name) })
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
