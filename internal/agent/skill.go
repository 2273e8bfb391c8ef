package agent

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/jsonx"
)

// runSkill loads a skill's body, or one of its files, at the digest that the
// snapshot admitted. Files are named, and read only when asked for.
func (s *Service) runSkill(ctx context.Context, b *bound) ToolResult {
	content, err := s.workspace.Content(ctx, b.Actor, b.entry.Row)
	if err != nil {
		return failed(stoppedOr(ctx, err))
	}
	spec, ok := content.Spec.(*capability.SkillSpec)
	if !ok {
		return failed(fault.New(fault.Internal, "not_a_skill", "What is stored under this name is no skill."))
	}
	if b.tool.Name == ReadSkillFile {
		return readSkillFile(spec, b.Arguments)
	}
	var text strings.Builder
	text.WriteString("<skill name=\"" + content.Name + "\">\n" + spec.Instructions + "\n</skill>\n")
	for i, f := range spec.Files {
		if i == 0 {
			text.WriteString("\nFiles beside it, to be read with " + ReadSkillFile + ":\n")
		}
		text.WriteString("- " + f.Path + "\n")
	}
	return ToolResult{Content: []json.RawMessage{textBlock(text.String())}}
}

func readSkillFile(spec *capability.SkillSpec, arguments json.RawMessage) ToolResult {
	var args struct{ Path string }
	if err := json.Unmarshal(arguments, &args); err != nil {
		return failed(fault.New(fault.Invalid, "bad_arguments", "The arguments could not be read.").Because(err))
	}
	paths := make([]string, len(spec.Files))
	for i, f := range spec.Files {
		paths[i] = f.Path
		if f.Path == args.Path {
			return fileResult(f)
		}
	}
	missing := fault.New(fault.Invalid, "unknown_file", "The skill has no file %q.", args.Path)
	if near := jsonx.Nearest(args.Path, paths); near != "" {
		missing.Do("Did you mean " + near + "?")
	}
	return failed(missing)
}

// fileResult gives text as text and everything else as a resource.
func fileResult(f capability.File) ToolResult {
	if f.Encoding != "base64" {
		return ToolResult{Content: []json.RawMessage{textBlock(f.Content)}}
	}
	if _, err := base64.StdEncoding.DecodeString(f.Content); err != nil {
		return failed(fault.New(fault.Internal, "file_damaged", "The file is stored damaged.").Because(err))
	}
	block, err := json.Marshal(map[string]any{"type": "resource", "resource": map[string]string{
		"uri": "skill:" + f.Path, "mimeType": f.MediaType, "blob": f.Content,
	}})
	if err != nil {
		return failed(err)
	}
	return ToolResult{Content: []json.RawMessage{block}}
}
