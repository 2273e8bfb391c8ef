package mcppool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"capstore/internal/fault"
	"capstore/internal/netguard"
)

const (
	// MaxMessage is the largest JSON-RPC message in bytes that is read.
	MaxMessage = 16 << 20
	// maxAnswer bounds one answer with all its notifications.
	maxAnswer = 64 << 20
)

// rpc is the envelope of a message.
type rpc struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

// rpcError is how a server refuses a request.
type rpcError struct {
	Code    int64           `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// lostSession is what servers say of a session they forgot, where they should
// answer 404.
var lostSession = regexp.MustCompile(`(?i)not initialized|(invalid|unknown|expired|missing|no valid|bad) session|session (id )?(is )?(not found|invalid|unknown|expired|missing)`)

// failed keeps the status and the error of the body, if it is one. A lost session under
// another status becomes the 404 that the protocol wants.
func failed(x *exchange, resp *http.Response) *http.Response {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10)) // what came before an error will do
	_ = resp.Body.Close()
	x.note(func(o *outcome) {
		odd := resp.StatusCode == http.StatusBadRequest || resp.StatusCode == http.StatusServiceUnavailable
		if o.session && odd && lostSession.Match(body) {
			resp.StatusCode = http.StatusNotFound
		}
		o.status = resp.StatusCode
		var m rpc
		if json.Unmarshal(body, &m) == nil {
			o.rpcErr = m.Error
		}
		if o.session && resp.StatusCode == http.StatusNotFound {
			body = nil // a JSON-RPC error in it would hide the lost session from the SDK
		}
	})
	setBody(resp, body)
	return resp
}

func setBody(resp *http.Response, body []byte) {
	resp.Body = io.NopCloser(bytes.NewReader(body))
	resp.ContentLength = int64(len(body))
	resp.Header.Set("Content-Length", strconv.Itoa(len(body)))
}

// tapped wraps the body of an answer, or refuses one that is not MCP's.
func tapped(x *exchange, resp *http.Response, request rpc) (*http.Response, error) {
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil {
		kind = strings.TrimSpace(resp.Header.Get("Content-Type"))
	}
	switch kind {
	case "text/event-stream":
		limit := int64(maxAnswer)
		if request.Method == "subscriptions/listen" {
			limit = 0 // open for as long as the session
		}
		resp.Body = newEventTap(resp.Body, limit, x)
		resp.ContentLength = -1
		resp.Header.Del("Content-Length")
		return resp, nil
	case "application/json":
		body, err := netguard.ReadAll(resp.Body, MaxMessage)
		_ = resp.Body.Close()
		if err == nil {
			body, err = tap(x, body)
		}
		if err != nil {
			return nil, x.refuse(brokenAnswer(err))
		}
		setBody(resp, body)
		return resp, nil
	}
	_ = resp.Body.Close()
	return nil, x.refuse(fault.New(fault.Unavailable, "not_mcp", "The address answers with %q, which no MCP server does.", clip(kind, 60)).
		Do("Check the address: an MCP server's often ends in /mcp."))
}

func answerTooLarge() *fault.Fault {
	return fault.New(fault.TooLarge, "answer_too_large", "The server's answer is larger than %d MiB.", MaxMessage>>20).
		Do("Ask for less at a time.")
}

func brokenAnswer(err error) error {
	f, ok := errors.AsType[*fault.Fault](err)
	switch {
	case ok && f.Kind == fault.TooLarge:
		return answerTooLarge().Because(err)
	case ok:
		return fault.New(fault.Unavailable, "not_mcp", "The server's answer cannot be read as JSON-RPC.").
			Do("Check the address, or tell whoever runs the server.").Because(err)
	}
	return fmt.Errorf("read answer: %w", err)
}

// tap keeps the raw result of an answer and gives the SDK a plain one, which it
// can neither re-spell nor choke on. Other messages pass as they are. It judges
// no more than the envelope: one odd tool must not cost a server its others.
func tap(x *exchange, data []byte) ([]byte, error) {
	data = bytes.ToValidUTF8(data, []byte("�")) // a database would choke on it
	var m rpc
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fault.New(fault.Malformed, "bad_json", "The message is no JSON-RPC object.").Because(err)
	}
	if m.Method != "" {
		return data, nil
	}
	x.note(func(o *outcome) { o.rpcErr = m.Error })
	if len(m.Result) == 0 || len(m.ID) == 0 {
		return data, nil
	}
	plain := plainResult(m.Result)
	if plain == nil {
		return data, nil
	}
	raw := bytes.Clone(m.Result)
	x.note(func(o *outcome) { o.result = raw })
	m.Result = plain
	out, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode message: %w", err)
	}
	return out, nil
}

// plainResult stands in for the result of a call or of a list of tools; nil for
// any other result.
func plainResult(result json.RawMessage) json.RawMessage {
	var got map[string]json.RawMessage
	if json.Unmarshal(result, &got) != nil {
		return nil
	}
	if tools, ok := got["tools"]; ok {
		return plainTools(tools)
	}
	for _, k := range []string{"content", "structuredContent", "isError", "inputRequests"} {
		if _, ok := got[k]; ok {
			return json.RawMessage(`{"content":[]}`)
		}
	}
	return nil
}
