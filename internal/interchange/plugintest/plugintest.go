// Package plugintest holds plugins and a marketplace as people write them, with
// the oddities that come with them, for the tests of every surface that takes
// one in.
package plugintest

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"maps"
	"slices"
	"testing/fstest"
)

// Release is a believable plugin: a skill, commands, hooks, a server and a
// subagent, and most of what authors get wrong.
func Release() map[string]string {
	return map[string]string{
		".claude-plugin/plugin.json": `{
  // kept by hand
  "name": "release-desk",
  "version": "2.3.0",
  "description": "Everything a release manager reaches for.",
  "author": {"name": "Mina Kwon", "email": "mina@example.com"},
  "homepage": "https://example.com/release-desk",
  "repository": "https://example.com/release-desk.git",
  "license": "MIT",
  "keywords": ["release", "changelog", "Release"],
  "mascot": "desk.png",
  "userConfig": {
    "tracker_token": {"type": "string", "title": "Tracker token", "description": "Token of the issue tracker.", "sensitive": true},
    "tracker_project": {"type": "string", "title": "Project", "default": "DESK"},
  },
  "outputStyles": "./output-styles/",
  "agents": ["./agents/", "../elsewhere/agents"],
}
`,
		"README.md":       "# Release desk\n\nInstall it and go.\n",
		"LICENSE":         "MIT\n",
		"docs/manual.md":  "# Manual\n",
		"docs/desk.png":   "\x89PNG\r\n\x1a\n",
		".DS_Store":       "junk",
		".mcp.json":       "{\"mcpServers\": {\n  \"tracker\": {\"type\": \"http\", \"url\": \"https://tracker.example.com/mcp\",\n    \"headers\": {\"Authorization\": \"Bearer ${user_config.tracker_token}\"}}\n}}\n",
		"bin/desk":        "#!/bin/sh\necho desk\n",
		"settings.json":   "{}\n",
		"evals/cases.yml": "cases: []\n",

		"skills/changelog/SKILL.md":            "---\nname: changelog\ndescription: Writes a changelog. Use when: a release is near\n---\n\n# Changelog\n\nRead `references/style.md`, then write.\n",
		"skills/changelog/references/style.md": "Short sentences.\n",
		"skills/changelog/scripts/collect.py":  "print('commits')\n",
		"skills/versioning/skill.md":           "---\nname: Versioning\ndescription: Picks the next version.\n---\n\nMajor, minor or patch.\n",

		"commands/cut.md":         "---\ndescription: Cuts a release branch\nargument-hint: [version] [--dry-run]\nallowed-tools: Bash(git checkout:*), Bash(git push:*)\nmodel: opus\n---\n\nThe branch now: !`git branch --show-current`\n\nRead @RELEASING.md, then cut release $1.\n",
		"commands/team/notify.md": "Tell the team that $ARGUMENTS is out.\n",
		"commands/README.md":      "These are the commands.\n",

		"hooks/hooks.json": `{
  "description": "Keeps releases safe.",
  "hooks": {
    "PreToolUse": [
      {"matcher": "Bash|mcp__git__push", "hooks": [
        {"type": "command", "command": "python3 \"${CLAUDE_PLUGIN_ROOT}/hooks/freeze.py\"", "timeout": 10}
      ]},
      {"matcher": "mcp__(?!git).*", "hooks": [{"type": "command", "command": "exit 2"}]}
    ],
    "PostToolUse": [
      {"matcher": "mcp__(git|hub)__.*", "hooks": [{"type": "command", "command": "\"${CLAUDE_PLUGIN_ROOT}\"/hooks/record.sh"}]},
      {"hooks": [{"type": "prompt", "prompt": "Was this wise? $ARGUMENTS"}]}
    ],
    "PreCompact": [{"hooks": [{"type": "command", "command": "date"}]}],
    "Stop": [{"hooks": [{"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/hooks/gone.sh"}]}]
  }
}
`,
		"hooks/freeze.py":         "import json, sys\nimport calendar_rules\n\nevent = json.load(sys.stdin)\nif calendar_rules.frozen(event):\n    print('releases are frozen', file=sys.stderr)\n    sys.exit(2)\n",
		"hooks/calendar_rules.py": "def frozen(event):\n    return False\n",
		"hooks/record.sh":         "#!/usr/bin/env bash\ncat >/dev/null\necho recorded\n",

		"agents/release-captain.md":     "---\nname: release-captain\ndescription: Leads a release from branch to announcement\ntools: Read, Bash\nmodel: inherit\n---\n\nYou lead releases.\n",
		"output-styles/announcement.md": "---\nname: announcement\n---\nCheerful.\n",
	}
}

// Market is a marketplace with one plugin beside it, one of which the folder is
// its own, and others that lie elsewhere or nowhere.
func Market() map[string]string {
	out := map[string]string{
		".claude-plugin/marketplace.json": `{
  "name": "desk-tools",
  "owner": {"name": "Desk"},
  "metadata": {"pluginRoot": "./plugins"},
  "plugins": [
    {"name": "release-desk", "source": "release-desk", "category": "productivity"},
    {"name": "writing", "source": "./", "strict": false, "skills": ["./writing/tone"], "description": "How we write."},
    {"name": "far", "source": {"source": "github", "repo": "example/far"}},
    {"name": "packed", "source": {"source": "archive", "url": "https://example.com/packed.zip", "sha256": "00"}},
    {"name": "lost", "source": "./plugins/lost"},
    {"name": "sly", "source": "../../etc"},
    {"source": "./plugins/release-desk"},
    {"name": "far", "source": {"source": "npm", "package": "far"}}
  ]
}
`,
		"writing/tone/SKILL.md":  "---\nname: tone\ndescription: How we sound.\n---\n\nPlainly.\n",
		"writing/extra/SKILL.md": "---\nname: extra\ndescription: Listed by nobody.\n---\n\nToo.\n",
	}
	for p, text := range Release() {
		out["plugins/release-desk/"+p] = text
	}
	return out
}

// Executable are the files of the plugins that are programs.
func executable(p string) bool {
	for _, end := range []string{"bin/desk", "hooks/record.sh", "scripts/collect.py"} {
		if len(p) >= len(end) && p[len(p)-len(end):] == end {
			return true
		}
	}
	return false
}

// FS are the files as a folder.
func FS(files map[string]string) fs.FS {
	out := fstest.MapFS{}
	for p, text := range files {
		f := &fstest.MapFile{Data: []byte(text), Mode: 0o644}
		if executable(p) {
			f.Mode = 0o755
		}
		out[p] = f
	}
	return out
}

// Zip are the files as an archive, below a folder of that name.
func Zip(top string, files map[string]string) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, p := range slices.Sorted(maps.Keys(files)) {
		h := &zip.FileHeader{Name: top + "/" + p, Method: zip.Deflate}
		h.SetMode(0o644)
		if executable(p) {
			h.SetMode(0o755)
		}
		w, err := z.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write([]byte(files[p])); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
