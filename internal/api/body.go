package api

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"path"
	"strings"

	"capstore/internal/fault"
	"capstore/internal/ops"
)

// readBody reads the request's body into the pointer and returns its bytes.
func readBody(w http.ResponseWriter, r *http.Request, into any) ([]byte, error) {
	upload, isFile := into.(*ops.Upload)
	limit, kind := int64(maxJSON), "application/json"
	if isFile {
		limit, kind = maxUpload, "application/zip, application/json or text/markdown"
	}
	mediaType, params, err := mediaTypeOf(r)
	if err != nil || !accepts(isFile, mediaType, params) {
		return nil, fault.New(fault.Malformed, "unsupported_media_type", "A body of this type is not read here.").
			Do("Send it as " + kind + ", in UTF-8 and not compressed.")
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if tooLong := (*http.MaxBytesError)(nil); errors.As(err, &tooLong) {
		return nil, fault.New(fault.TooLarge, "body_too_large", "The body is longer than %d bytes.", limit)
	}
	if err != nil {
		return nil, fault.New(fault.Malformed, "body_cut_off", "The body ended early.").Because(err)
	}
	if !isFile {
		return data, ops.DecodeBody(data, into)
	}
	if mediaType == "multipart/form-data" {
		*upload, err = firstFile(data, params["boundary"])
		return data, err
	}
	upload.Data = data
	return data, nil
}

// mediaTypeOf returns the body's type, "" where none is said.
func mediaTypeOf(r *http.Request) (string, map[string]string, error) {
	if coding := r.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		return "", nil, errors.New("compressed")
	}
	value := r.Header.Get("Content-Type")
	if value == "" {
		return "", nil, nil
	}
	return mime.ParseMediaType(value)
}

func accepts(isFile bool, mediaType string, params map[string]string) bool {
	if charset := params["charset"]; charset != "" && !strings.EqualFold(charset, "utf-8") {
		return false
	}
	if isFile {
		// What it is, its first bytes say; the fields of a form it never is.
		return mediaType != "application/x-www-form-urlencoded"
	}
	return mediaType == "" || mediaType == "application/json"
}

// firstFile takes the first file of a form.
func firstFile(data []byte, boundary string) (ops.Upload, error) {
	form := multipart.NewReader(bytes.NewReader(data), boundary)
	for {
		part, err := form.NextPart()
		if err != nil {
			return ops.Upload{}, fault.New(fault.Malformed, "no_file", "The form holds no file.").Because(err)
		}
		if part.FileName() == "" {
			continue
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return ops.Upload{}, fault.New(fault.Malformed, "body_cut_off", "The form ended early.").Because(err)
		}
		return ops.Upload{Data: content, Name: path.Base(part.FileName())}, nil
	}
}
