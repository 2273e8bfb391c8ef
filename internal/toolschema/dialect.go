package toolschema

import (
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// dialect is one published revision of JSON Schema.
type dialect struct {
	draft *jsonschema.Draft
	year  int // 4, 6, 7, 2019 or 2020, so that they order
}

var (
	latest   = &dialect{jsonschema.Draft2020, 2020}
	dialects = map[string]*dialect{
		"json-schema.org/draft-04/schema":      {jsonschema.Draft4, 4},
		"json-schema.org/draft-06/schema":      {jsonschema.Draft6, 6},
		"json-schema.org/draft-07/schema":      {jsonschema.Draft7, 7},
		"json-schema.org/draft/2019-09/schema": {jsonschema.Draft2019, 2019},
		"json-schema.org/draft/2020-12/schema": latest,
		// What people write when they mean "the newest".
		"json-schema.org/schema": latest,
	}
)

// dialectOf reads the root's $schema, with or without its #, by http or https,
// and takes the keyword out: each document is compiled under its dialect alone.
func dialectOf(root map[string]any) (*dialect, error) {
	v, ok := root["$schema"]
	if !ok || v == nil {
		delete(root, "$schema")
		return latest, nil
	}
	uri, _ := v.(string)
	key := strings.TrimSuffix(strings.TrimSpace(uri), "#")
	key = strings.TrimPrefix(strings.TrimPrefix(key, "http://"), "https://")
	d, ok := dialects[strings.TrimSuffix(key, "/")]
	if !ok {
		return nil, refuse("schema_unknown_dialect", "/$schema",
			"The schema is written in the dialect %q. Known are draft-04, draft-06, draft-07, 2019-09 and 2020-12.", clip(uri, 120))
	}
	delete(root, "$schema")
	return d, nil
}
