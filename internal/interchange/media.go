package interchange

import (
	"encoding/base64"
	"path"
	"strings"
	"unicode/utf8"

	"capstore/internal/capability"
)

// mediaTypes are fixed here, since those of the system differ by machine and
// would give one folder two digests.
var mediaTypes = map[string]string{
	".md": "text/markdown", ".markdown": "text/markdown", ".txt": "text/plain", ".csv": "text/csv", ".tsv": "text/tab-separated-values",
	".json": "application/json", ".jsonl": "application/jsonl", ".yaml": "application/yaml", ".yml": "application/yaml", ".toml": "application/toml", ".xml": "application/xml",
	".html": "text/html", ".htm": "text/html", ".css": "text/css", ".js": "text/javascript", ".mjs": "text/javascript", ".cjs": "text/javascript", ".ts": "text/typescript",
	".py": "text/x-python", ".sh": "text/x-shellscript", ".bash": "text/x-shellscript", ".rb": "text/x-ruby", ".go": "text/x-go", ".rs": "text/x-rust", ".java": "text/x-java", ".c": "text/x-c", ".h": "text/x-c", ".sql": "application/sql",
	".svg": "image/svg+xml", ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp", ".ico": "image/vnd.microsoft.icon",
	".pdf": "application/pdf", ".gz": "application/gzip", ".tgz": "application/gzip", ".tar": "application/x-tar", ".wasm": "application/wasm",
	".ttf": "font/ttf", ".otf": "font/otf", ".woff": "font/woff", ".woff2": "font/woff2", ".mp3": "audio/mpeg", ".wav": "audio/wav", ".mp4": "video/mp4",
	".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
}

// FileOf makes a skill's file of bytes: text where they are UTF-8 without NUL,
// else base64.
func FileOf(p string, data []byte, executable bool) capability.File {
	f := capability.File{Path: p, Encoding: capability.EncodingUTF8, Content: string(data), Executable: executable}
	text := utf8.Valid(data) && !strings.Contains(f.Content, "\x00")
	if !text {
		f.Encoding, f.Content = capability.EncodingBase64, base64.StdEncoding.EncodeToString(data)
	}
	known := mediaTypes[strings.ToLower(path.Ext(p))]
	switch {
	case known != "":
		f.MediaType = known
	case text:
		f.MediaType = "text/plain"
	default:
		f.MediaType = "application/octet-stream"
	}
	return f
}
