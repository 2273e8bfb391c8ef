package views

import (
	"context"
	"strings"
	"time"

	"capstore/internal/i18n"
	"capstore/views/ui"
)

// Profile is what the member decides about himself.
type Profile struct {
	Form   Form
	Email  string
	Name   string
	Locale string
	Theme  string
}

// Security is the member's password and sign-ins.
type Security struct {
	Form        Form
	HasPassword bool
	Sessions    []SessionRow
}

// SessionRow is one sign-in of the member.
type SessionRow struct {
	ID        string
	UserAgent string
	Address   string
	Created   time.Time
	Expires   time.Time
	Current   bool
}

// TokenRow is one of the member's access tokens.
type TokenRow struct {
	ID        string
	Name      string
	Workspace string
	Scope     string
	Created   time.Time
	Expires   time.Time
	LastUsed  time.Time // zero when never
	Expired   bool
}

// MadeToken is an access token with its credential, shown this once.
type MadeToken struct {
	Name       string
	Workspace  string
	Credential string
	Expires    time.Time
}

// TokenDays are the lives offered for a token, in days.
var TokenDays = []int{7, 30, 90, 365}

// accountTabs are the parts of the account, in order.
func accountTabs(ctx context.Context, part string) []ui.Tab {
	var tabs []ui.Tab
	for _, tab := range [][2]string{
		{"profile", AccountPath()}, {"security", AccountSecurityPath()}, {"tokens", AccountTokensPath()}, {"secrets", AccountSecretsPath("")}, {"models", AccountModelsPath()},
	} {
		tabs = append(tabs, ui.Tab{Label: i18n.T(ctx, "account."+tab[0]), Href: tab[1], Current: tab[0] == part})
	}
	return tabs
}

func (v Profile) languages(ctx context.Context) []ui.Option {
	chosen := v.Form.Value("locale", v.Locale)
	options := []ui.Option{{Label: i18n.T(ctx, "account.language_browser"), Selected: chosen == ""}}
	for _, language := range i18n.Languages() {
		options = append(options, ui.Option{Value: language[0], Label: language[1], Selected: chosen == language[0]})
	}
	return options
}

func (v Profile) themes(ctx context.Context) []ui.Option {
	chosen := v.Form.Value("theme", v.Theme)
	var options []ui.Option
	for _, theme := range []string{"", "light", "dark"} {
		options = append(options, ui.Option{Value: theme, Label: i18n.T(ctx, themeKey(theme)), Selected: chosen == theme})
	}
	return options
}

func (v Security) passwordKey() string {
	if v.HasPassword {
		return "account.password_change"
	}
	return "account.password_set"
}

// browsers and systems are looked for in this order: most user agents claim to
// be several at once.
var (
	browsers = [][2]string{{"Edg", "Edge"}, {"OPR/", "Opera"}, {"SamsungBrowser", "Samsung Internet"}, {"Firefox", "Firefox"}, {"FxiOS", "Firefox"}, {"Chrome", "Chrome"}, {"CriOS", "Chrome"}, {"Safari", "Safari"}}
	systems  = [][2]string{{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"Windows", "Windows"}, {"CrOS", "ChromeOS"}, {"Mac OS X", "macOS"}, {"Linux", "Linux"}}
)

// device names the browser and system of a user agent in a word each, or says
// that it does not know them.
func (r SessionRow) device(ctx context.Context) string {
	browser, system := firstNamed(browsers, r.UserAgent), firstNamed(systems, r.UserAgent)
	switch {
	case browser == "" && system == "":
		return i18n.T(ctx, "account.device_unknown")
	case browser == "" || system == "":
		return browser + system
	default:
		return i18n.T(ctx, "account.device", "browser", browser, "system", system)
	}
}

func firstNamed(names [][2]string, userAgent string) string {
	for _, name := range names {
		if strings.Contains(userAgent, name[0]) {
			return name[1]
		}
	}
	return ""
}
