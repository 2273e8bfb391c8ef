package model_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/agent/model"
	"capstore/internal/agent/model/modeltest"
)

// searched is a conversation in which find_tools made one of two deferred
// tools known.
func searched() model.Request {
	r := ask("Add them")
	r.Standing = "Epoch 7."
	r.Tools = append(r.Tools,
		model.Tool{Name: "files__read", Schema: json.RawMessage(`{"type":"object"}`), Deferred: true},
		model.Tool{Name: "files__write", Schema: json.RawMessage(`{"type":"object"}`), Deferred: true})
	r.Messages = append(r.Messages,
		model.Message{Role: model.Assistant, Calls: []model.Call{{ID: "c1", Name: "find_tools", Arguments: json.RawMessage(`{}`)}}},
		model.Message{Role: model.User, Results: []model.Result{
			{Call: "c1", Content: text("1 of 2 tools"), Loads: []string{"files__write", "gone"}},
		}})
	return r
}

// TestDeferral gives Anthropic every tool, and a reference in the result; the
// others get what was loaded, behind what was there.
func TestDeferral(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, p model.Provider) {
		m, server := scripted(t, p, modeltest.Say("Now I can."))
		if _, _, err := stream(m, searched()); err != nil {
			t.Fatal(err)
		}
		r := server.Requests()[0]
		if p == model.OpenAI {
			if diff := cmp.Diff([]string{"add", "find_tools", "files__write"}, r.ToolNames()); diff != "" {
				t.Error(diff)
			}
			if got := r.Last().Results[0].Text(); got != "1 of 2 tools" {
				t.Errorf("the result says %q", got)
			}
			return
		}
		want := map[string]bool{"add": false, "find_tools": false, "files__read": true, "files__write": true}
		got := map[string]bool{}
		for _, tool := range r.Tools {
			got[tool.Name] = tool.Deferred
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"files__write"}, r.Last().Results[0].Loads); diff != "" || r.Last().Text() != "1 of 2 tools" {
			t.Error(diff, r.Last().Text())
		}
	})
}

// TestDeferralRefused is an older model, or a likeness: it is given the loaded
// tools from then on.
func TestDeferralRefused(t *testing.T) {
	t.Parallel()
	server := modeltest.NewFunc(t, func(r modeltest.Request) modeltest.Step {
		for _, tool := range r.Tools {
			if tool.Deferred {
				return modeltest.Refuse(400, "tools.2.custom.defer_loading: Extra inputs are not permitted")
			}
		}
		return modeltest.Say("Fine.")
	})
	m := newModel(t, config(t, model.Anthropic, server.URL))
	for range 2 {
		if out, _, err := stream(m, searched()); err != nil || out.Text != "Fine." {
			t.Fatal(out, err)
		}
	}
	if server.Asked() != 3 {
		t.Errorf("asked %d times: once to learn, twice to answer", server.Asked())
	}
	if diff := cmp.Diff([]string{"add", "find_tools", "files__write"}, server.Requests()[2].ToolNames()); diff != "" {
		t.Error(diff)
	}
}

func TestOnlyDeferredTools(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, p model.Provider) {
		m, server := scripted(t, p, modeltest.Say("Fine."))
		r := searched()
		r.Tools = r.Tools[2:]
		if _, _, err := stream(m, r); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"files__write"}, server.Requests()[0].ToolNames()); diff != "" {
			t.Error(diff)
		}
	})
}

// TestCachedPrefix holds that what comes before the standing text is the same
// bytes from turn to turn, and marked where the provider wants marks.
func TestCachedPrefix(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, p model.Provider) {
		m, server := scripted(t, p, modeltest.Say("One."), modeltest.Say("Two."))
		first, second := searched(), searched()
		second.Standing = "Epoch 8: the server files is gone."
		second.Messages = append(second.Messages, model.Message{Role: model.Assistant, Text: "One."}, model.Message{Role: model.User, Text: "And now?"})
		for _, r := range []model.Request{first, second} {
			if _, _, err := stream(m, r); err != nil {
				t.Fatal(err)
			}
		}
		a, b := server.Requests()[0], server.Requests()[1]
		if diff := cmp.Diff(a.Tools, b.Tools); diff != "" {
			t.Error(diff)
		}
		if p == model.OpenAI {
			if !strings.HasPrefix(a.System[0].Text, "You are an agent.\n\nEpoch 7") || !strings.HasPrefix(b.System[0].Text, "You are an agent.\n\nEpoch 8") {
				t.Errorf("system %v, %v", a.System, b.System)
			}
			return
		}
		want := []modeltest.Text{{Text: "You are an agent.", Cached: true}, {Text: "Epoch 8: the server files is gone."}}
		if diff := cmp.Diff(want, b.System); diff != "" {
			t.Error(diff)
		}
		if last := b.Last().Texts; !last[len(last)-1].Cached {
			t.Error("the conversation so far is not marked")
		}
	})
}

// TestThoughts are given back to the model they came from, and to no other.
func TestThoughts(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, p model.Provider) {
		m, server := scripted(t, p,
			modeltest.Step{}.Think("The member ", "wants <3>.").Say("Right.").Call("c1", "add", `{"id":1000000000000000001}`),
			modeltest.Say("Done."))
		r := ask("Add")
		out, deltas, err := stream(m, r)
		if err != nil || out.Text != "Right." {
			t.Fatal(out, err)
		}
		thinking := ""
		for _, d := range deltas {
			thinking += d.Thinking
		}
		if thinking != "The member wants <3>." {
			t.Errorf("thought %q", thinking)
		}
		r.Messages = append(r.Messages, model.Message{Role: model.Assistant, Text: out.Text, Calls: out.Calls, Opaque: out.Opaque},
			model.Message{Role: model.User, Results: []model.Result{{Call: "c1", Content: text("4")}}})
		if _, _, err := stream(m, r); err != nil {
			t.Fatal(err)
		}
		repeated := string(server.Requests()[1].Messages[1].Raw)
		wants := map[model.Provider][]string{
			model.Anthropic: {`"signature":"sig-0"`, `"type":"thinking"`, `"text":"Right."`, `1000000000000000001`},
			model.OpenAI:    {`"reasoning_content":"The member wants`, `1000000000000000001`},
		}[p]
		for _, want := range wants {
			if !strings.Contains(repeated, want) {
				t.Errorf("repeated as %s, without %s", repeated, want)
			}
		}
		for _, other := range providers {
			another, asked := scripted(t, other, modeltest.Say("Done."))
			if other == p {
				c := config(t, other, asked.URL)
				c.Name = "m-2"
				another = newModel(t, c)
			}
			if _, _, err := stream(another, r); err != nil {
				t.Fatal(err)
			}
			if raw := string(asked.Requests()[0].Raw); strings.Contains(raw, "wants") {
				t.Errorf("%s was given another's thoughts: %s", other, raw)
			}
		}
	})
}

// TestContent has the blocks that tools return.
func TestContent(t *testing.T) {
	t.Parallel()
	picture := base64.StdEncoding.EncodeToString(pngOf(t, 8))
	for name, c := range map[string]struct {
		content    string
		structured string
		wants      string
		images     int // where images are taken
		elsewhere  string
	}{
		"text":              {`[{"type":"text","text":"two\nlines"}]`, "", "two\nlines", 0, ""},
		"nothing":           {`[]`, "", "", 0, "[nothing came back]"},
		"blank":             {`[{"type":"text","text":" \n"}]`, "", "", 0, "[nothing came back]"},
		"data alone":        {`[]`, `{"n":9007199254740993}`, `{"n":9007199254740993}`, 0, ""},
		"data beside":       {`[{"type":"text","text":"Found it."}]`, `{"n":1}`, "Found it.\n{\"n\":1}", 0, ""},
		"data twice":        {`[{"type":"text","text":"{\"b\":2, \"a\":1}"}]`, `{"a":1,"b":2}`, `{"b":2, "a":1}`, 0, ""},
		"image":             {`[{"type":"image","mimeType":"image/png","data":"` + picture + `"}]`, "", "", 1, "image/png"},
		"image misdeclared": {`[{"type":"image","mimeType":"image/jpg","data":"` + picture + `"}]`, "", "", 1, "image/png"},
		"image in a file":   {`[{"type":"resource","resource":{"uri":"f:a","mimeType":"image/png","blob":"` + picture + `"}}]`, "", "", 1, "image/png"},
		"drawing":           {`[{"type":"image","mimeType":"image/svg+xml","data":"PHN2Zz48L3N2Zz4="}]`, "", "[image (image/svg+xml) of 12 bytes, left out: no model takes its type]", 0, ""},
		"broken image":      {`[{"type":"image","mimeType":"image/png","data":"@@@@"}]`, "", "it cannot be read", 0, ""},
		"sound":             {`[{"type":"audio","mimeType":"audio/wav","data":"AAAA"}]`, "", "[audio (audio/wav) of 3 bytes, left out]", 0, ""},
		"link":              {`[{"type":"resource_link","uri":"https://x/y","name":"Y","description":"A page."}]`, "", "[Y](https://x/y) A page.", 0, ""},
		"file of text":      {`[{"type":"resource","resource":{"uri":"f:a","text":"body"}}]`, "", "f:a\nbody", 0, ""},
		"file of bytes":     {`[{"type":"resource","resource":{"uri":"f:a","mimeType":"application/zip","blob":"AAAA"}}]`, "", "[file f:a (application/zip) of 3 bytes, left out]", 0, ""},
		"from the future":   {`[{"type":"hologram"}]`, "", `[content of the type "hologram", left out]`, 0, ""},
		"no block":          {`[5]`, "", "[content that cannot be read, left out]", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, p model.Provider) {
				m, server := scripted(t, p, modeltest.Say("I see."))
				var content []json.RawMessage
				if err := json.Unmarshal([]byte(c.content), &content); err != nil {
					t.Fatal(err)
				}
				r := ask("Look")
				r.Messages = append(r.Messages, model.Message{Role: model.Assistant, Calls: []model.Call{{ID: "c1", Name: "add", Arguments: json.RawMessage(`{}`)}}},
					model.Message{Role: model.User, Results: []model.Result{{Call: "c1", Content: content, Structured: json.RawMessage(c.structured)}}})
				if _, _, err := stream(m, r); err != nil {
					t.Fatal(err)
				}
				result := server.Requests()[0].Messages[2].Results[0]
				want, images := c.wants, c.images
				if p == model.OpenAI {
					images = 0
					if c.elsewhere != "" {
						want = c.elsewhere
					}
				}
				if !strings.Contains(result.Text(), want) || len(result.Images) != images {
					t.Errorf("the result is %+v, want %q", result, want)
				}
			})
		})
	}
}

// TestImagesOfChat sends images behind the tools' messages to a model that is
// known to take them.
func TestImagesOfChat(t *testing.T) {
	t.Parallel()
	server := modeltest.New(t, modeltest.Say("I see."))
	c := config(t, model.OpenAI, server.URL)
	c.Images = true
	r := ask("Look")
	r.Messages = append(r.Messages, model.Message{Role: model.Assistant, Calls: []model.Call{
		{ID: "c1", Name: "add", Arguments: json.RawMessage(`{}`)}, {ID: "c2", Name: "add", Arguments: json.RawMessage(`{}`)}}},
		model.Message{Role: model.User, Text: "Well?", Results: []model.Result{
			{Call: "c1", Content: []json.RawMessage{pictureBlock(t, 4)}}, {Call: "c2", Content: text("none")}}})
	if _, _, err := stream(newModel(t, c), r); err != nil {
		t.Fatal(err)
	}
	last := server.Requests()[0].Last()
	if diff := cmp.Diff([]string{"image/png"}, last.Images); diff != "" || last.Text() != "Well?" {
		t.Error(diff, last)
	}
}

// TestBigImages keeps the newest where there is no room for all, and none that
// the provider would refuse the conversation for.
func TestBigImages(t *testing.T) {
	t.Parallel()
	huge, large := noise(6<<20), noise(3<<20)
	m, server := scripted(t, model.Anthropic, modeltest.Say("I see."))
	r := ask("Look")
	for i := range 8 {
		id, data := fmt.Sprintf("c%d", i), large
		if i == 7 {
			data = huge
		}
		r.Messages = append(r.Messages,
			model.Message{Role: model.Assistant, Calls: []model.Call{{ID: id, Name: "add", Arguments: json.RawMessage(`{}`)}}},
			model.Message{Role: model.User, Results: []model.Result{{Call: id, Content: []json.RawMessage{imageBlock(data)}}}})
	}
	if _, _, err := stream(m, r); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, message := range server.Requests()[0].Messages {
		for _, result := range message.Results {
			got = append(got, result.Text()+strings.Join(result.Images, ","))
		}
	}
	for i, want := range []string{"no room", "no room", "image/png", "image/png", "image/png", "image/png", "image/png", "too large"} {
		if !strings.Contains(got[i], want) {
			t.Errorf("image %d is %s, want %s", i, got[i], want)
		}
	}
}

func pngOf(t *testing.T, side int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, side, side))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func pictureBlock(t *testing.T, side int) json.RawMessage { return imageBlock(pngOf(t, side)) }

func imageBlock(data []byte) json.RawMessage {
	raw, _ := json.Marshal(map[string]any{"type": "image", "mimeType": "image/png", "data": data})
	return raw
}

// noise has the head of a PNG and a size.
func noise(n int) []byte { return append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, n)...) }

// TestSchemas offers what the world writes in a form that providers take; the
// scripted model refuses, as they do, what is not.
func TestSchemas(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ schema, wants string }{
		"nothing":      {``, `"type":"object"`},
		"null":         {`null`, `"type":"object"`},
		"no type":      {`{"properties":{"a":{"type":"string"}}}`, `"a"`},
		"alternatives": {`{"anyOf":[{"type":"object","properties":{"a":{}},"required":["a"]},{"type":"object","properties":{"b":{}},"required":["b"]}]}`, `"b"`},
		"all of":       {`{"type":"object","allOf":[{"properties":{"c":{"type":"string"}}}]}`, `"c"`},
		"reference":    {`{"$ref":"#/$defs/in","$defs":{"in":{"type":"object","properties":{"d":{"type":"integer"}}}}}`, `"d"`},
		"draft 4": {`{"$schema":"http://json-schema.org/draft-04/schema#","type":"object","properties":{"e":{"type":"number","minimum":0,"exclusiveMinimum":true}}}`,
			`"e"`},
		"big bounds": {`{"type":"object","properties":{"id":{"type":"integer","maximum":1000000000000000001}}}`, `1000000000000000001`},
		"a string":   {`{"type":"string"}`, `"type":"object"`},
		"a boolean":  {`true`, `"type":"object"`},
		"broken":     {`{"type":`, `"type":"object"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, p model.Provider) {
				m, server := scripted(t, p, modeltest.Say("Fine."))
				r := ask("Hi")
				r.Tools = append(r.Tools, model.Tool{Name: "odd", Schema: json.RawMessage(c.schema)})
				if _, _, err := stream(m, r); err != nil {
					t.Fatal(err)
				}
				if got := string(server.Requests()[0].Tools[2].Schema); !strings.Contains(got, c.wants) {
					t.Errorf("shown as %s", got)
				}
			})
		})
	}
}

func TestManyTools(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, p model.Provider) {
		m, server := scripted(t, p, modeltest.Call("c1", "tool_199", `{"id":1}`))
		r := ask("Hi")
		r.Tools = nil
		for i := range 200 {
			r.Tools = append(r.Tools, model.Tool{Name: fmt.Sprintf("tool_%d", i), Description: strings.Repeat("Does things. ", 40),
				Schema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"integer","description":"Which."},"deep":{"type":"object","properties":{"x":{"type":"string"}}}}}`)})
		}
		out, _, err := stream(m, r)
		if err != nil || out.Calls[0].Name != "tool_199" {
			t.Fatal(out, err)
		}
		if got := server.Requests()[0].ToolNames(); len(got) != 200 || got[199] != "tool_199" {
			t.Errorf("offered %d tools", len(got))
		}
	})
}

// TestUnansweredCalls lets a member go on after a turn that was interrupted.
func TestUnansweredCalls(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, p model.Provider) {
		m, server := scripted(t, p, modeltest.Say("Fine."))
		r := ask("Do it")
		r.Messages = append(r.Messages,
			model.Message{Role: model.Assistant, Calls: []model.Call{{ID: "c1", Name: "add", Arguments: json.RawMessage(`{}`)}}},
			model.Message{Role: model.User, Text: "What happened?"},
			model.Message{Role: model.Assistant, Text: " "},
			model.Message{Role: model.User, Results: []model.Result{{Call: "unheard of"}}},
			model.Message{Role: model.User, Text: "Hello?"})
		if _, _, err := stream(m, r); err != nil {
			t.Fatal(err)
		}
		raw := string(server.Requests()[0].Raw)
		if !strings.Contains(raw, "may or may not have had its effect") || strings.Contains(raw, "unheard of") {
			t.Error(raw)
		}
	})
}
