package web

import (
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
	capability.KindHook: {"spec": `{
  "event": "before_tool",
  "matcher": "*",
  "language": "python",
  "code": "import json, sys\n\nevent = json.load(sys.stdin)\n",
  "failureMode": "advisory"
}`},
	capability.KindCommand: {"spec": `{
  "template": "Explain $ARGUMENTS in plain words.",
  "argumentHint": "what to explain"
}`},
	capability.KindEnvironment: {"spec": `{
  "image": "docker.io/library/python:3.13",
  "instructions": ""
}`},
	capability.KindDelegation: {"spec": `{
  "harness": "claude-code",
  "image": "ghcr.io/example/harness:1.0",
  "instructions": ""
}`},
}

// starter is what a new form begins with.
func starter(kind capability.Kind) url.Values {
	values := url.Values{}
	for name, value := range starters[kind] {
		values.Set(name, value)
	}
	return values
}
