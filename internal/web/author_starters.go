package web

import (
	"encoding/json"
	"net/url"

	"capstore/internal/capability"
)

// starters are what a new form begins with, by field: the least that works, to
// be written over.
var starters = map[capability.Kind]map[string]string{
	capability.KindCode: {
		"spec.code": `import json, os

params = json.load(open(os.environ["CAPSTORE_INPUT"]))
print(json.dumps({"text": params["text"].upper()}))
`,
		"spec.parametersSchema": `{
  "type": "object",
  "properties": {
    "text": {"type": "string", "description": "What to write in capitals"}
  },
  "required": ["text"]
}`,
		"tryInput": `{"text": "hello"}`,
	},
	capability.KindHook: {
		"spec.event": "before_tool", "spec.language": "python",
		"spec.code": `import json, sys

event = json.load(sys.stdin)
if "password" in json.dumps(event.get("arguments", {})):
    print(json.dumps({"decision": "deny", "reason": "A password does not belong into a call."}))
else:
    print(json.dumps({"decision": "allow"}))
`,
	},
	capability.KindCommand: {
		"spec.template": "Explain $ARGUMENTS in plain words.", "spec.argumentHint": "what to explain", "tryArguments": "the general ledger",
	},
}

// starter is what a new form begins with.
func starter(kind capability.Kind) url.Values {
	values := url.Values{}
	for name, value := range starters[kind] {
		values.Set(name, value)
	}
	if kind == capability.KindCode {
		schemaValues(values, json.RawMessage(values.Get("spec.parametersSchema")))
	}
	return values
}
