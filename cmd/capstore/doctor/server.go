package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"capstore/internal/agent/sandbox"
)

func (e *examination) sandbox(ctx context.Context) {
	e.area = "Sandbox"
	runner, err := sandbox.NewRunner(sandbox.Options{AllowHost: e.cfg.SandboxAllowHost, Folder: os.TempDir()})
	if err != nil {
		e.failed("sandbox", err)
		return
	}
	for _, status := range runner.Status(ctx, true) {
		e.driver(status)
	}
}

// driver tells of one way of running code. None is essential: everything but
// code tools works without.
func (e *examination) driver(s sandbox.Status) {
	if !s.Ready {
		e.add(Notice, s.Driver, "Off: code tools do not run. "+s.Reason, s.Action)
		return
	}
	text, state := fmt.Sprintf("Isolates code; limits by %s.", s.Limits), OK
	if !s.Isolated {
		text, state = "Runs this workspace's own code without any isolation. For development only.", Notice
	}
	e.add(state, s.Driver, text, "")
	for _, language := range sandbox.Languages() {
		if s.Runs(language) {
			e.add(OK, s.Driver+" "+string(language), "Runs.", "")
		} else {
			e.add(Notice, s.Driver+" "+string(language), "Off: "+s.Languages[language], "Install it for all users, where its code tools are wanted.")
		}
	}
}

// server asks the server that runs with this configuration whether it is ready.
func (e *examination) server(ctx context.Context) {
	e.area = "Server"
	host, port, err := net.SplitHostPort(e.cfg.Addr)
	if err != nil {
		return // said with the settings
	}
	if ip := net.ParseIP(host); host == "" || (ip != nil && ip.IsUnspecified()) {
		host = "localhost"
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	at := "http://" + net.JoinHostPort(host, port)
	status, text, err := ask(ctx, at+"/readyz", e.cfg.PublicURL().Host)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED) && e.joined:
		e.add(Notice, "readiness", "A server holds the data folder, but none answers on "+e.cfg.Addr+".",
			"Name the address that it was started with: --addr or CAPSTORE_ADDR.")
	case errors.Is(err, syscall.ECONNREFUSED):
		e.add(OK, "readiness", "No server runs on "+e.cfg.Addr+", and the address is free.", "")
	case err != nil:
		e.add(Wrong, "readiness", err.Error(), "See the server's log, or what else listens on "+e.cfg.Addr+".")
	case status == http.StatusOK && text == "ready":
		e.ready = at
		e.add(OK, "readiness", "The server on "+e.cfg.Addr+" is ready.", "")
	case status == http.StatusServiceUnavailable:
		e.add(Wrong, "readiness", "The server is not ready: "+text, "See the server's log.")
	default:
		e.add(Wrong, "readiness", fmt.Sprintf("What answers on %s is no capstore (status %d).", e.cfg.Addr, status),
			"Stop it, or choose another address with --addr.")
	}
}

func ask(ctx context.Context, url, host string) (int, string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	req.Host = host
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 4<<10))
	return res.StatusCode, strings.TrimSpace(string(body)), err
}
