// Package browsertest opens pages in a real Chromium and says what is wrong
// with them: accessibility, sideways scrolling, broken rules of the content
// security policy, errors of scripts.
package browsertest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// View is how a page is looked at. The zero value is a desktop in the light
// theme, English, with script.
type View struct {
	Width    int // 1280 unless told
	Height   int // 900 unless told
	Dark     bool
	Language string // Accept-Language; en unless told
	NoScript bool
}

// Tab is one page in a browser that lives as long as the test.
type Tab struct {
	// Ctx runs further actions of chromedp in the tab.
	Ctx context.Context

	t        testing.TB
	mu       sync.Mutex
	troubles []string
}

// limit ends a test whose browser hangs.
const limit = 3 * time.Minute

// Open starts Chromium with one tab. Where there is none, the test fails with
// the name of the package to install.
func Open(t testing.TB) *Tab {
	t.Helper()
	path, err := find()
	if err != nil {
		t.Fatalf("no Chromium on this machine (%v): install it, as by `apt-get install chromium`", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, chromedp.ExecPath(path), chromedp.Headless, chromedp.NoSandbox,
		chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("force-color-profile", "srgb"))
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // waits for the browser, so that its folder can go
		cancel()
	})
	tab := &Tab{Ctx: ctx, t: t}
	if err := chromedp.Listen(ctx, tab.note); err != nil {
		t.Fatalf("starting Chromium: %v", err)
	}
	return tab
}

// find returns Chromium's path: CHROMIUM, or what the system calls it.
func find() (string, error) {
	if path := os.Getenv("CHROMIUM"); path != "" {
		return exec.LookPath(path)
	}
	path, err := exec.LookPath("chromium")
	if err != nil {
		path, err = exec.LookPath("google-chrome")
	}
	return path, err
}

// note keeps what the browser complains of: refused by a policy, thrown, not found.
func (tab *Tab) note(event any) {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	switch e := event.(type) {
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			tab.troubles = append(tab.troubles, string(e.Entry.Source)+": "+e.Entry.Text+" "+e.Entry.URL)
		}
	case *cdpruntime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
		tab.troubles = append(tab.troubles, text)
	}
}

// Troubles returns what the browser complained of since the last call.
func (tab *Tab) Troubles() []string {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	found := tab.troubles
	tab.troubles = nil
	return found
}

// Visit opens an address in a view and waits until it has loaded.
func (tab *Tab) Visit(url string, v View) {
	tab.t.Helper()
	tab.Do(tab.look(v), chromedp.Navigate(url))
}

// Look changes the view of the page that is open, without loading it anew.
func (tab *Tab) Look(v View) {
	tab.t.Helper()
	tab.Do(tab.look(v))
}

func (tab *Tab) look(v View) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		scheme := "light"
		if v.Dark {
			scheme = "dark"
		}
		if _, err := cdp.Call(ctx, t, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
			Width: int64(or(v.Width, 1280)), Height: int64(or(v.Height, 900)), DeviceScaleFactor: 1,
		}); err != nil {
			return err
		}
		if _, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{
				{Name: "prefers-color-scheme", Value: scheme},
				{Name: "prefers-reduced-motion", Value: "reduce"},
			},
		}); err != nil {
			return err
		}
		if _, err := cdp.Call(ctx, t, network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{
			Headers: network.Headers{"Accept-Language": or(v.Language, "en")},
		}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled,
			emulation.SetScriptExecutionDisabledParams{Value: v.NoScript})
		return err
	})
}

// Do runs actions in the tab and fails the test at the first error.
func (tab *Tab) Do(steps ...chromedp.Action[chromedp.Void]) {
	tab.t.Helper()
	if err := chromedp.Do(tab.Ctx, steps...); err != nil {
		tab.t.Fatalf("browser: %v", err)
	}
}

// Eval returns the value of a script in the tab.
func Eval[T any](tab *Tab, script string) T {
	tab.t.Helper()
	v, err := chromedp.Run(tab.Ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	if err != nil {
		tab.t.Fatalf("browser: %.80s: %v", script, err)
	}
	return v
}

// Wait waits until a script in the tab answers true.
func Wait(tab *Tab, script string) {
	tab.t.Helper()
	if _, err := chromedp.Run(tab.Ctx, chromedp.Poll[bool](script, chromedp.WithPollingTimeout(10*time.Second))); err != nil {
		tab.t.Fatalf("browser: waiting for %.80s: %v", script, err)
	}
}

// Screenshot writes the whole page to folder/name.png; without a folder it
// does nothing, so that a test can always ask for it.
func (tab *Tab) Screenshot(folder, name string) {
	tab.t.Helper()
	if folder == "" {
		return
	}
	png, err := chromedp.Run(tab.Ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, name+".png"), png, 0o644)
	}
	if err != nil {
		tab.t.Fatalf("screenshot: %v", err)
	}
}

// moduleFile returns the path of a file of the module, wherever the test runs.
func moduleFile(parts ...string) string {
	_, here, _, _ := runtime.Caller(0)
	return filepath.Join(append([]string{filepath.Dir(here), "..", ".."}, parts...)...)
}

func or[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}
