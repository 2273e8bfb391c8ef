package capability

import (
	"encoding/base64"
	"fmt"
	"maps"
	"mime"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"capstore/internal/jsonx"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Encodings of a file's content.
const (
	EncodingUTF8   = "utf-8"
	EncodingBase64 = "base64"
)

// SkillFileName is the document of a skill folder, which is never among its
// files.
const SkillFileName = "SKILL.md"

const (
	maxPath    = 1024
	maxSegment = 255
)

var (
	drivePattern  = regexp.MustCompile(`^[A-Za-z]:`)
	devicePattern = regexp.MustCompile(`(?i)^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)`)
)

// Bytes returns the file's content as it is written out. A content that does
// not decode, which Validate refuses, is an error.
func (f File) Bytes() ([]byte, error) {
	if f.Encoding != EncodingBase64 {
		return []byte(f.Content), nil
	}
	out, err := base64.StdEncoding.Strict().DecodeString(f.Content)
	if err != nil {
		return nil, fmt.Errorf("decode %s: %w", f.Path, err)
	}
	return out, nil
}

// PathFault says why a file may not have this path, as a code and a message;
// both are empty when it may. It holds on every system that an export is
// unpacked on.
func PathFault(path string) (code, message string) {
	switch {
	case path == "":
		return "required", "A file needs a path."
	case !utf8.ValidString(path):
		return "bad_path", "The path is not valid UTF-8."
	case len(path) > maxPath:
		return "too_long", fmt.Sprintf("A path has at most %d bytes.", maxPath)
	case strings.ContainsRune(path, '\\'):
		return "bad_path", "A path uses / between folders, never a backslash."
	case strings.HasPrefix(path, "/"), drivePattern.MatchString(path):
		return "bad_path", "A path is relative to the folder; it does not begin at a root or drive."
	}
	if r, bad := notPlain(path); bad {
		return "bad_path", fmt.Sprintf("The path holds the character U+%04X, which cannot be seen.", r)
	}
	for segment := range strings.SplitSeq(path, "/") {
		if code, message := segmentFault(segment); code != "" {
			return code, message
		}
	}
	return "", ""
}

func segmentFault(segment string) (code, message string) {
	switch {
	case segment == "":
		return "bad_path", "The path has an empty part."
	case segment == "." || segment == "..":
		return "bad_path", "A path does not climb: it has no . or .. in it."
	case len(segment) > maxSegment:
		return "too_long", fmt.Sprintf("Each part of a path has at most %d bytes.", maxSegment)
	case strings.TrimRight(segment, ". ") != segment || strings.TrimLeft(segment, " ") != segment:
		return "bad_path", fmt.Sprintf("%q begins with a space or ends with a space or dot, which Windows drops.", cut(segment, 60))
	case devicePattern.MatchString(segment):
		return "reserved_path", fmt.Sprintf("%q is a device on Windows; choose another name.", cut(segment, 60))
	}
	return "", ""
}

// PathKey is equal for two paths that some file system takes for one.
func PathKey(path string) string { return cases.Fold().String(norm.NFC.String(path)) }

// files checks what lies beside a skill or hook, under /spec/files.
func (f *faults) files(list []File) {
	const path = "/spec/files"
	f.count(path, "files", len(list), MaxFiles)
	total, tree := 0, NewPathTree()
	for i, file := range list {
		at := jsonx.Pointer(path, strconv.Itoa(i))
		if code, message := PathFault(file.Path); code != "" {
			f.add(at+"/path", code, "%s", message)
		} else if other := tree.Add(file.Path); other != "" {
			f.add(at+"/path", "path_collides", "%q cannot lie beside %q: some systems take them for one.", cut(file.Path, 60), cut(other, 60))
		}
		if file.MediaType != "" {
			if _, _, err := mime.ParseMediaType(file.MediaType); err != nil {
				f.add(at+"/mediaType", "bad_media_type", "%q is not a media type such as text/plain.", cut(file.MediaType, 40))
			}
		}
		total += f.fileContent(at, file)
	}
	if total > MaxFilesTotal {
		f.add(path, "too_large", "The files have %d bytes together; at most %d are allowed.", total, MaxFilesTotal)
	}
}

// fileContent returns the size of the decoded content in bytes.
func (f *faults) fileContent(at string, file File) int {
	switch file.Encoding {
	case "", EncodingUTF8:
		if !utf8.ValidString(file.Content) {
			f.add(at+"/content", "invalid_utf8", "The content is not valid UTF-8; send it as base64.")
		}
		return len(file.Content)
	case EncodingBase64:
		content, err := file.Bytes()
		if err != nil {
			f.add(at+"/content", "bad_base64", "The content is not base64 of the standard alphabet with padding.")
			return base64.StdEncoding.DecodedLen(len(file.Content))
		}
		return len(content)
	}
	f.add(at+"/encoding", "not_allowed", "The encoding is utf-8 or base64.")
	return 0
}

// PathTree finds paths that cannot be written beside each other: the same one
// but for case, or a file where another needs a folder. Both maps lead from a
// PathKey to the spelling that took it.
type PathTree struct{ files, folders map[string]string }

// NewPathTree returns an empty tree.
func NewPathTree() PathTree { return PathTree{map[string]string{}, map[string]string{}} }

// Add takes the path in, or returns the one that it collides with.
func (t PathTree) Add(path string) (collides string) {
	key := PathKey(path)
	for _, taken := range []map[string]string{t.files, t.folders} {
		if other := taken[key]; other != "" {
			return other
		}
	}
	folders := map[string]string{}
	for i, r := range path {
		if r != '/' {
			continue
		}
		folder := path[:i]
		fold := PathKey(folder)
		if other := t.files[fold]; other != "" {
			return other
		}
		if other := t.folders[fold]; other != "" && other != folder {
			return other
		}
		folders[fold] = folder
	}
	t.files[key] = path
	maps.Copy(t.folders, folders)
	return ""
}
