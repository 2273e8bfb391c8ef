package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"capstore/internal/catalog/sample"
)

type storeCmd struct {
	URL       string   `help:"Where the server listens." default:"http://127.0.0.1:8080"`
	Workspace string   `help:"The reader's workspace, as seed made it." default:"bench"`
	Email     string   `help:"Who reads." default:"bench@example.com"`
	Password  string   `help:"His password." default:"bench measures stores"`
	Clients   int      `help:"How many ask at once." default:"32"`
	Seconds   int      `help:"How long each page is loaded." default:"10"`
	Only      []string `help:"Load these pages alone, by their names in the table." sep:","`
	JSON      bool     `help:"Print JSON instead of a table."`
}

// Run signs in, loads each page between two loads of a static file of about
// the same size, and prints the ratios.
func (c *storeCmd) Run(ctx context.Context) error {
	client, err := c.signIn(ctx)
	if err != nil {
		return err
	}
	pages, err := c.pages(ctx, client)
	if err != nil {
		return err
	}
	static, err := client.staticOf(ctx, "/"+c.Workspace+"/store")
	if err != nil {
		return err
	}
	d := time.Duration(c.Seconds) * time.Second
	before, err := client.load(ctx, static, d/2)
	if err != nil {
		return err
	}
	all := []figures{before}
	for _, p := range pages {
		if len(c.Only) > 0 && !slices.Contains(c.Only, p.name) {
			continue
		}
		f, err := client.load(ctx, p, d)
		if err != nil {
			return err
		}
		after, err := client.load(ctx, static, d/2)
		if err != nil {
			return err
		}
		f.OfStatic = f.PerSecond / ((before.PerSecond + after.PerSecond) / 2)
		all, before = append(all, f), after
	}
	return c.print(all)
}

// pages are what people ask of a store.
func (c *storeCmd) pages(ctx context.Context, client *client) ([]page, error) {
	store := "/" + c.Workspace + "/store"
	search := func(name, q string) page { return at(name, store+"?q="+url.QueryEscape(q)) }
	detail, err := client.firstDetail(ctx, store)
	if err != nil {
		return nil, err
	}
	words := sample.Words()
	return []page{
		at("browse", store), at("browse, newest", store+"?sort=newest"), at("browse, most adopted", store+"?sort=adopted"),
		search("word in all", "team"), search("word in some", "invoice"), search("rare word", "4711"), search("two words", "stripe invoice"),
		search("one typo", "strpie invoice"), search("whole name", "stripe invoice sync"),
		at("tag", store+"?tag=finance"), at("word and tag", store+"?q=invoice&tag=finance"), at("kind", store+"?kind=skill"),
		{name: "ever other words", path: func(i int) string { return store + "?q=" + words[i%len(words)] + "+" + words[i/len(words)%len(words)] }},
		at("detail", detail),
	}, nil
}

var (
	assets  = regexp.MustCompile(`(?:href|src)="(/static/[^"]+)"`)
	details = regexp.MustCompile(`href="(/[^/"]+/store/[^/"?]+/[^/"?]+)`)
)

func (c *client) text(ctx context.Context, path string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, nil)
	if err != nil {
		return "", err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	var b bytes.Buffer
	if _, err := io.Copy(&b, res.Body); err != nil {
		return "", err
	}
	if res.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s: %s", path, res.Status)
	}
	return b.String(), nil
}

// staticOf is as much of a static file as a page is long: of the largest that
// it names, or all of it where none is so long.
func (c *client) staticOf(ctx context.Context, path string) (page, error) {
	html, err := c.text(ctx, path)
	if err != nil {
		return page{}, err
	}
	best, size := "", 0
	for _, m := range assets.FindAllStringSubmatch(html, -1) {
		n, err := c.get(ctx, m[1], 0)
		if err != nil {
			return page{}, err
		}
		if n > size {
			best, size = m[1], n
		}
	}
	if best == "" {
		return page{}, fmt.Errorf("%s names no static file", path)
	}
	p := at("static file", best)
	p.bytes = min(size, len(html))
	return p, nil
}

// firstDetail is the page of the first capability of a list.
func (c *client) firstDetail(ctx context.Context, path string) (string, error) {
	html, err := c.text(ctx, path)
	if err != nil {
		return "", err
	}
	for _, m := range details.FindAllStringSubmatch(html, -1) {
		if !strings.HasPrefix(m[1], path+"/new") && !strings.HasPrefix(m[1], path+"/mine") {
			return m[1], nil
		}
	}
	return "", fmt.Errorf("%s lists no capability", path)
}

// signIn begins a session as a browser does.
func (c *storeCmd) signIn(ctx context.Context) (*client, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	// Compression would measure the client as much as the server.
	transport := &http.Transport{MaxIdleConnsPerHost: c.Clients, DisableCompression: true}
	out := &client{http: &http.Client{Jar: jar, Transport: transport}, base: strings.TrimSuffix(c.URL, "/"), clients: c.Clients}
	form := url.Values{"email": {c.Email}, "password": {c.Password}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, out.base+"/login", strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", out.base)
	res, err := out.http.Do(req)
	if err != nil {
		return nil, err
	}
	res.Body.Close()
	if res.StatusCode != http.StatusOK || res.Request.URL.Path == "/login" {
		return nil, fmt.Errorf("signing in as %s: %s at %s", c.Email, res.Status, res.Request.URL.Path)
	}
	return out, nil
}

func (c *storeCmd) print(all []figures) error {
	if c.JSON {
		enc := json.NewEncoder(os.Stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(map[string]any{"clients": c.Clients, "seconds": c.Seconds, "pages": all})
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "page\tbytes\trequests\t/s\tp50 ms\tp99 ms\tp99/p50\tof static\t")
	for _, f := range all {
		ratio := ""
		if f.OfStatic > 0 {
			ratio = fmt.Sprintf("1/%.1f", 1/f.OfStatic)
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%.0f\t%.1f\t%.1f\t%.1f\t%s\t\n", f.Page, f.Bytes, f.Requests, f.PerSecond, f.P50, f.P99, f.Spread, ratio)
	}
	return w.Flush()
}
