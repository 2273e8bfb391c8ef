package app

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/internal/netguard"
	"capstore/internal/pg/cluster"
)

// Config is everything that an operator decides, filled from flags and
// CAPSTORE_* variables. Validate it before use; String prints it redacted.
type Config struct {
	Addr        string `help:"Address to listen on." default:"127.0.0.1:8080" env:"CAPSTORE_ADDR"`
	Data        string `help:"Data folder: the embedded database and keys (default: /var/lib/capstore for root, else the XDG data home)." placeholder:"DIR" env:"CAPSTORE_DATA"`
	DatabaseURL string `help:"PostgreSQL 15 or newer to use instead of the embedded one." placeholder:"URL" env:"CAPSTORE_DATABASE_URL"`
	BaseURL     string `help:"Where people reach the server, such as https://capstore.example.com." placeholder:"URL" env:"CAPSTORE_BASE_URL"`

	Hosts      []string `help:"Further host names to answer for." placeholder:"NAME" env:"CAPSTORE_HOSTS"`
	TrustProxy bool     `help:"Take the client's address from the X-Forwarded-For that your own proxy writes." env:"CAPSTORE_TRUST_PROXY"`

	AllowMemberPublicPublish bool     `help:"Let members, not only admins, publish to everyone." env:"CAPSTORE_ALLOW_MEMBER_PUBLIC_PUBLISH"`
	AllowHosts               []string `help:"Hosts, host:port or networks that outbound requests may reach although they are private." placeholder:"HOST" env:"CAPSTORE_ALLOW_HOSTS"`
	SandboxAllowHost         bool     `help:"Run this workspace's own code without isolation where no sandbox is available. Development only." env:"CAPSTORE_SANDBOX_ALLOW_HOST"`
	SecretKey                string   `help:"Secret key, instead of the key file in the data folder. Set it by the environment." placeholder:"KEY" env:"CAPSTORE_SECRET_KEY"`

	LogLevel  string `help:"debug, info, warn or error." default:"info" enum:"debug,info,warn,error" env:"CAPSTORE_LOG_LEVEL"`
	LogFormat string `help:"text or json." default:"text" enum:"text,json" env:"CAPSTORE_LOG_FORMAT"`
}

// DataDir returns the data folder, the default one when none was named.
func (c Config) DataDir() (string, error) {
	if c.Data != "" {
		return filepath.Abs(c.Data)
	}
	return cluster.DefaultDir()
}

// CatalogOptions are what the operator decided for the store.
func (c Config) CatalogOptions() catalog.Options {
	return catalog.Options{
		Policy: capability.Policy{AllowMemberPublic: c.AllowMemberPublicPublish},
		Rules:  capability.Rules{AllowLoopbackHTTP: len(c.AllowHosts) > 0},
	}
}

// Validate reports every setting that cannot be used, as one fault.
func (c Config) Validate() error {
	var fields []fault.Field
	bad := func(flag, code, format string, args ...any) {
		fields = append(fields, fault.Field{Path: "--" + flag, Code: code, Message: fmt.Sprintf(format, args...)})
	}
	if _, port, err := net.SplitHostPort(c.Addr); err != nil || port == "" {
		bad("addr", "bad_address", "%q is not HOST:PORT.", c.Addr)
	}
	if c.BaseURL != "" {
		if u, err := url.Parse(c.BaseURL); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || strings.Trim(u.Path, "/") != "" {
			bad("base-url", "bad_url", "%q is not http(s)://HOST without a path.", c.BaseURL)
		}
	}
	if c.DatabaseURL != "" && !strings.HasPrefix(c.DatabaseURL, "postgres") && !strings.Contains(c.DatabaseURL, "=") {
		bad("database-url", "bad_url", "The database URL starts with postgres://.")
	}
	if _, err := netguard.New(c.AllowHosts); err != nil {
		bad("allow-hosts", "bad_host", "%s.", err)
	}
	return fault.Fields(fields)
}

// Loopback reports whether the server listens where only this machine reaches.
func (c Config) Loopback() bool {
	host, _, err := net.SplitHostPort(c.Addr)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// PublicURL is where people reach the server: the base URL, or the address
// that it listens on.
func (c Config) PublicURL() *url.URL {
	if c.BaseURL != "" {
		if u, err := url.Parse(c.BaseURL); err == nil {
			return &url.URL{Scheme: u.Scheme, Host: u.Host}
		}
	}
	host, port, err := net.SplitHostPort(c.Addr)
	if err != nil {
		return &url.URL{Scheme: "http", Host: c.Addr}
	}
	if ip, err := netip.ParseAddr(host); host == "" || (err == nil && ip.IsUnspecified()) {
		host = "localhost"
	}
	return &url.URL{Scheme: "http", Host: net.JoinHostPort(host, port)}
}

// Redacted returns the settings as flag and value, secrets and passwords
// hidden, in a stable order: what start-up logs and doctor print.
func (c Config) Redacted() [][2]string {
	dir, err := c.DataDir()
	if err != nil {
		dir = "none"
	}
	return [][2]string{
		{"addr", c.Addr}, {"data", dir}, {"database-url", redactURL(c.DatabaseURL)},
		{"base-url", c.PublicURL().String()}, {"hosts", strings.Join(c.Hosts, ",")},
		{"trust-proxy", fmt.Sprint(c.TrustProxy)},
		{"allow-member-public-publish", fmt.Sprint(c.AllowMemberPublicPublish)},
		{"allow-hosts", strings.Join(c.AllowHosts, ",")},
		{"sandbox-allow-host", fmt.Sprint(c.SandboxAllowHost)},
		{"secret-key", hidden(c.SecretKey)},
		{"log-level", c.LogLevel}, {"log-format", c.LogFormat},
	}
}

func hidden(s string) string {
	if s == "" {
		return "from the key file"
	}
	return "set"
}

// redactURL hides the password; what it cannot read it hides whole.
func redactURL(s string) string {
	if s == "" {
		return "embedded"
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" {
		return "set"
	}
	return u.Redacted()
}
