package model

import (
	"encoding/json"
	"strings"

	"capstore/internal/fault"
	"capstore/internal/jsonx"
)

// maxArguments is the size of one call's arguments in bytes. It is below what
// jsonx reads and above what any model writes in one answer.
const maxArguments = 4 << 20

// readArguments keeps what the model wrote as the call's arguments, byte for
// byte, so that no number is spelt anew. What is no clean JSON object is kept
// as Broken: the model is told and can write it again, while guessing would
// run a call that nobody asked for.
func (c *Call) readArguments(written string) {
	text := strings.TrimSpace(written)
	c.Arguments, c.Broken = nil, ""
	switch {
	case text == "" || text == "null":
		c.Arguments = json.RawMessage("{}")
	case unreadable(text) != nil:
		c.Broken = written
	default:
		c.Arguments = json.RawMessage(text)
	}
}

// Fault returns what keeps the arguments from being read, as an Invalid fault
// with the code arguments_unreadable, or nil where Broken is empty.
func (c Call) Fault() error {
	if c.Broken == "" {
		return nil
	}
	why := unreadable(strings.TrimSpace(c.Broken))
	if why == nil {
		return nil
	}
	return fault.New(fault.Invalid, "arguments_unreadable",
		"The arguments of %s are not a JSON object: %s", c.Name, why.Message).
		Do("Write the call again with one JSON object as its arguments.").Because(why)
}

// unreadable returns why the text is no JSON object, or nil.
func unreadable(text string) *fault.Fault {
	if err := jsonx.Check([]byte(text), maxArguments); err != nil {
		return fault.From(err)
	}
	if strings.HasPrefix(text, "{") {
		return nil
	}
	kind := "an array"
	switch text[0] {
	case '"':
		kind = "a string; an object must not be put in quotes"
	case 't', 'f':
		kind = "a boolean"
	case '[':
	default:
		kind = "a number"
	}
	return fault.New(fault.Malformed, "not_an_object", "it is %s.", kind)
}
