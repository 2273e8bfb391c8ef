package interchange

import (
	"encoding/base64"

	"capstore/internal/capability"
	"capstore/internal/jsonx"
)

// sidecarName is a file beside the SKILL.md with what a folder cannot say of
// its files. It is only written where that differs from what an import derives.
const sidecarName = ".capstore.json"

type sidecar struct {
	Files map[string]sideFile `json:"files"`
}

type sideFile struct {
	MediaType string `json:"mediaType"`
	Encoding  string `json:"encoding"`
}

// keep remembers a file whose own words are not the derived ones.
func (s *sidecar) keep(f, derived capability.File) {
	if f.MediaType == derived.MediaType && f.Encoding == derived.Encoding {
		return
	}
	if s.Files == nil {
		s.Files = map[string]sideFile{}
	}
	s.Files[f.Path] = sideFile{f.MediaType, f.Encoding}
}

func (s *sidecar) write() ([]byte, bool) {
	if len(s.Files) == 0 {
		return nil, false
	}
	data, err := jsonx.CanonicalOf(s)
	return data, err == nil
}

// read takes a sidecar in and reports whether the data was one.
func (s *sidecar) read(data []byte) bool {
	var got sidecar
	if jsonx.Decode(data, &got) != nil || got.Files == nil {
		return false
	}
	*s = got
	return true
}

// apply puts the remembered words back where they still fit the bytes.
func (s *sidecar) apply(files []capability.File) {
	for i, f := range files {
		side, ok := s.Files[f.Path]
		if !ok {
			continue
		}
		data, err := f.Bytes()
		if err != nil {
			continue
		}
		if recoded, ok := encodeAs(data, side.Encoding, f); ok {
			files[i].Encoding, files[i].Content = side.Encoding, recoded
			files[i].MediaType = side.MediaType
		}
	}
}

// encodeAs gives the content of a file in an encoding, false where it cannot
// be in that one.
func encodeAs(data []byte, encoding string, f capability.File) (string, bool) {
	text := f.Encoding == capability.EncodingUTF8
	switch encoding {
	case "", capability.EncodingUTF8:
		return string(data), text
	case capability.EncodingBase64:
		return base64.StdEncoding.EncodeToString(data), true
	}
	return "", false
}
