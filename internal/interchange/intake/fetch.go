package intake

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/interchange"
	"capstore/internal/netguard"
	"capstore/internal/pg"

	"github.com/jackc/pgx/v5"
)

const fetchWithin = 60 * time.Second

// Fetched is what an address gave.
type Fetched struct {
	Upload interchange.Upload
	// Address is what was fetched: the one that was given, or what a page for
	// people stands for.
	Address string
	// Under is the folder that the address was about, within what it gave.
	Under string
}

// Fetch gets the file at an address by the guard, for the actor. Addresses of
// pages at GitHub and GitLab are taken for the files that they show. It returns
// an Invalid fault for what is no file, such as another web page, and for an
// answer that is none. A refused host is audited.
func (s *Staging) Fetch(ctx context.Context, actor capability.Actor, guard *netguard.Guard, raw string) (Fetched, error) {
	got, err := fetch(ctx, guard, raw)
	if !fault.HasCode(err, "address_refused") {
		return got, err
	}
	host, _ := fault.From(err).Detail["host"].(string)
	if audit := s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		return pg.Audit(ctx, tx, pg.Entry{Workspace: actor.Workspace, Subject: actor.Subject, Action: "import.address_refused", Target: host})
	}); audit != nil {
		return got, audit
	}
	return got, err
}

func fetch(ctx context.Context, guard *netguard.Guard, raw string) (Fetched, error) {
	u, err := guard.ParseURL(ctx, strings.TrimSpace(raw), false)
	if err != nil {
		return Fetched{}, err
	}
	u, under := fileOf(u)
	client := guard.Client(netguard.ClientOptions{Timeout: fetchWithin, MaxBody: interchange.MaxArchive})
	defer client.CloseIdleConnections()
	data, err := get(ctx, client, u)
	if err != nil {
		return Fetched{}, err
	}
	if isPage(data) {
		return Fetched{}, fault.New(fault.Invalid, "address_is_page", "There is a web page at this address, not a file.").
			Do("Give the address of the raw file or of a zip: what the download button leads to.")
	}
	name := path.Base(u.Path)
	if name == "." || name == "/" {
		name = u.Host
	}
	return Fetched{Upload: interchange.Upload{Name: name, Data: data}, Address: plain(u), Under: under}, nil
}

func get(ctx context.Context, client *http.Client, u *url.URL) ([]byte, error) {
	unreachable := func(err error) error {
		if f, ok := errors.AsType[*fault.Fault](err); ok {
			return f
		}
		return fault.New(fault.Invalid, "address_unreachable", "Nothing answers at this address, or not in time.").
			Do("Check the address; or download the file yourself and send it.").Because(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, unreachable(err)
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, unreachable(err)
	}
	defer func() { _ = res.Body.Close() }() // only read from
	if res.StatusCode != http.StatusOK {
		return nil, fault.New(fault.Invalid, "address_refused_file", "The address answers %d instead of a file.", res.StatusCode).
			With("status", res.StatusCode).Do("Check that it is right and that anyone may read it; or download the file yourself and send it.")
	}
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, unreachable(err)
	}
	return data, nil
}

// isPage tells a page for people from any file that is read here, by its first
// bytes: what it says of itself counts for nothing.
func isPage(data []byte) bool {
	head := bytes.ToLower(bytes.TrimLeft(data[:min(len(data), 512)], "\ufeff \t\r\n"))
	return bytes.HasPrefix(head, []byte("<!doctype html")) || bytes.HasPrefix(head, []byte("<html"))
}

// plain is an address without what may be a credential in it.
func plain(u *url.URL) string {
	out := *u
	out.User, out.RawQuery, out.Fragment = nil, "", ""
	return out.String()
}

// fileOf is the file that a page for people shows, with the folder that the
// page is about; any other address is itself.
func fileOf(u *url.URL) (file *url.URL, under string) {
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	out := *u
	switch u.Hostname() {
	case "github.com", "www.github.com":
		if len(parts) < 2 || u.RawQuery != "" {
			return u, ""
		}
		return github(out, parts)
	case "gist.github.com":
		if len(parts) == 2 {
			out.Path, out.RawPath = u.Path+"/raw", ""
		}
	case "gitlab.com":
		before, after, found := strings.Cut(u.Path, "/-/blob/")
		if found {
			out.Path, out.RawPath = before+"/-/raw/"+after, ""
		}
	}
	return &out, ""
}

func github(out url.URL, parts []string) (*url.URL, string) {
	repo := "/" + parts[0] + "/" + strings.TrimSuffix(parts[1], ".git")
	out.RawPath = ""
	switch {
	case len(parts) == 2:
		out.Path = repo + "/archive/HEAD.zip"
	case parts[2] == "tree" && len(parts) > 3:
		out.Path = repo + "/archive/" + parts[3] + ".zip"
		return &out, strings.Join(parts[4:], "/")
	case parts[2] == "blob" && len(parts) > 4:
		out.Host, out.Path = "raw.githubusercontent.com", repo+"/"+strings.Join(parts[3:], "/")
	}
	return &out, ""
}
