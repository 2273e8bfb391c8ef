package model

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"unicode"
)

// saidLength is how many characters of a provider's own words are shown.
const saidLength = 300

// said is what a provider gave as its reason.
type said struct {
	Message string
	Type    string
	Code    string
}

// readSaid finds the reason in the shapes that servers give it: an object or a
// string as "error", "message" or "detail" at the top, a page of HTML, text.
func readSaid(body []byte) said {
	var doc struct {
		Error   json.RawMessage `json:"error"`
		Message any             `json:"message"`
		Detail  any             `json:"detail"`
		Type    any             `json:"type"`
		Code    any             `json:"code"`
	}
	if json.Unmarshal(body, &doc) != nil {
		return said{Message: clean(plain(string(body)))}
	}
	s := said{Message: textOf(doc.Message), Type: textOf(doc.Type), Code: textOf(doc.Code)}
	if s.Message == "" {
		s.Message = textOf(doc.Detail)
	}
	var inner struct {
		Message any `json:"message"`
		Type    any `json:"type"`
		Code    any `json:"code"`
	}
	var text string
	switch {
	case json.Unmarshal(doc.Error, &text) == nil && text != "":
		s.Message = text
	case json.Unmarshal(doc.Error, &inner) == nil:
		s = said{Message: orElse(textOf(inner.Message), s.Message), Type: orElse(textOf(inner.Type), s.Type), Code: orElse(textOf(inner.Code), s.Code)}
	}
	s.Message = clean(s.Message)
	return s
}

// quoted returns the reason for the end of a message, or "".
func (s said) quoted() string {
	if s.Message == "" {
		return ""
	}
	return " It says: “" + s.Message + "”"
}

func (s said) orText(other string) string { return orElse(s.Message, other) }

// isAny reports whether the reason is one of the marks or speaks of it.
func (s said) isAny(marks ...string) bool {
	all := strings.ToLower(s.Type + " " + s.Code + " " + s.Message)
	for _, mark := range marks {
		if strings.Contains(all, mark) {
			return true
		}
	}
	return false
}

// isTooLong knows a conversation over the model's context by the words of the
// servers in use; only OpenAI's has a code of its own.
func (s said) isTooLong(status int) bool {
	if status == http.StatusRequestEntityTooLarge {
		return true
	}
	return status >= 400 && s.isAny("context_length_exceeded", "exceed_context_size", "prompt is too long",
		"context length", "context window", "context size", "input is too long", "too many tokens in the prompt",
		"request_too_large")
}

// textOf returns a string as it is and anything else that says something as
// JSON: a code may be a number, a detail a list.
func textOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(raw)
}

func orElse(s, other string) string {
	if s != "" {
		return s
	}
	return other
}

var (
	title = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)
	tag   = regexp.MustCompile(`(?s)<(script|style).*?</(script|style)>|<[^>]*>`)
)

// plain takes the title of a page, or its text.
func plain(s string) string {
	if found := title.FindStringSubmatch(s); found != nil {
		return found[1]
	}
	return tag.ReplaceAllString(s, " ")
}

// clean makes a stranger's words fit for one line of a message: white space
// folded, nothing invisible, and not too long.
func clean(s string) string {
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, ""), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	s = strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return -1
		}
		return r
	}, s)
	if runes := []rune(s); len(runes) > saidLength {
		return string(runes[:saidLength]) + "…"
	}
	return s
}

// hidden stands where a part of a key was.
const hidden = "[key]"

// keyPart is the shortest part of a key that counts as leaking it. Providers
// name the last four characters, which helps to find the key.
const keyPart = 8

// hideKey takes the key, and every longer part of it, out of a text.
func hideKey(key, text string) string {
	if key == "" || text == "" {
		return text
	}
	if len(key) <= keyPart {
		return strings.ReplaceAll(text, key, hidden)
	}
	var out strings.Builder
	for i := 0; i < len(text); {
		n := 0
		for n < len(text)-i && strings.Contains(key, text[i:i+n+1]) {
			n++
		}
		if n >= keyPart {
			out.WriteString(hidden)
			i += n
			continue
		}
		out.WriteByte(text[i])
		i++
	}
	return out.String()
}
