package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"capstore/cmd/capstore/app"
	"capstore/static"
)

// Free space on the data folder's disk below which people should know, and
// below which writes are about to fail.
const (
	littleSpace = 1 << 30
	noSpace     = 100 << 20
)

func (e *examination) configuration() {
	e.area = "Configuration"
	if err := e.cfg.Validate(); err != nil {
		e.failed("settings", err)
	} else {
		e.address()
	}
	if n := len(e.cfg.AllowHosts); n > 0 {
		e.add(Notice, "allow-hosts", fmt.Sprintf("Members can make the server reach %d private hosts or networks.", n), "")
	}
	if e.cfg.AllowMemberPublicPublish {
		e.add(Notice, "publishing", "Members, not only admins, can publish to everyone.", "")
	}
}

// address says who can reach the server and whether the cookies are safe.
func (e *examination) address() {
	url := e.cfg.PublicURL()
	switch {
	case url.Scheme == "https":
		e.add(OK, "address", fmt.Sprintf("Listens on %s, and people reach it at %s.", e.cfg.Addr, url), "")
	case e.cfg.Loopback():
		e.add(OK, "address", fmt.Sprintf("Listens on %s, for this machine alone.", e.cfg.Addr), "")
	default:
		e.add(Notice, "address", fmt.Sprintf("Listens on %s, and passwords and sessions cross the network in the clear.", e.cfg.Addr),
			"Put a proxy with TLS in front, listen on 127.0.0.1, and set --base-url https://…")
	}
	if e.cfg.TrustProxy && e.cfg.BaseURL == "" {
		e.add(Notice, "proxy", "X-Forwarded-For is believed, but there is no --base-url that a proxy would serve.",
			"Set --base-url, or leave --trust-proxy out: without a proxy anyone can claim any address.")
	}
}

func (e *examination) folder() {
	e.area = "Data folder"
	dir, err := e.cfg.DataDir()
	if err != nil {
		e.failed("folder", err)
		return
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.add(Notice, "folder", dir+" is not there yet.", "The first start makes it.")
		return
	case err != nil:
		e.add(Wrong, "folder", err.Error(), "Run this as the user that runs the server.")
		return
	case !info.IsDir():
		e.add(Wrong, "folder", dir+" is not a folder.", "Name another with --data.")
		return
	}
	e.space(dir)
	e.keyFile(filepath.Join(dir, app.KeyFile))
}

func (e *examination) space(dir string) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		e.add(Wrong, "folder", err.Error(), "Run this as the user that runs the server.")
		return
	}
	free := disk.Bavail * uint64(disk.Bsize)
	text := fmt.Sprintf("%s, with %.1f GiB free.", dir, float64(free)/(1<<30))
	switch {
	case free < noSpace:
		e.add(Wrong, "folder", text, "Make room: writes are about to fail.")
	case free < littleSpace:
		e.add(Notice, "folder", text, "Make room before the disk is full.")
	default:
		e.add(OK, "folder", text, "")
	}
}

// keyFile looks at who may read the key; whether it fits the stored secrets
// is asked once the database is open.
func (e *examination) keyFile(path string) {
	if e.cfg.SecretKey != "" {
		e.add(OK, "key", "The secret key comes from the environment.", "")
		return
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.add(Notice, "key", "There is no key file yet.", "The first start makes it.")
	case err != nil:
		e.add(Wrong, "key", err.Error(), "Run this as the user that runs the server.")
	case info.Mode().Perm()&0o077 != 0:
		e.add(Wrong, "key", fmt.Sprintf("%s is open to other users of this machine (mode %04o).", path, info.Mode().Perm()),
			fmt.Sprintf("Run: chmod 600 '%s', and then capstore secrets rotate-key if others may have read it.", path))
	default:
		e.add(OK, "key", path+", for its owner alone. Keep a copy apart from the database's.", "")
	}
}

func (e *examination) assets() {
	e.area = "Front end"
	if err := static.Check(); err != nil {
		e.add(Wrong, "assets", err.Error(), "Build the front end, and then the binary, which carries it.")
		return
	}
	e.add(OK, "assets", "Style sheets, scripts and images are in the binary.", "")
}
