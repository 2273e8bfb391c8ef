// Package cluster runs the private PostgreSQL of a capstore that was not given
// a database of its own: it finds the programs, keeps the data in a folder
// that one process holds at a time, and never runs as root.
//
// The database listens on a socket in a folder that only its own user may
// enter, so there are no passwords to keep. It lives and dies with the
// process that started it: Linux tells it to stop when that process goes,
// killed or not, and whoever starts next waits for it, or ends it, before
// starting anew.
package cluster

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/sethvargo/go-retry"

	"capstore/internal/fault"
	"capstore/internal/lifecycle"
)

const (
	// rootDir is the data folder of a capstore that runs as root.
	rootDir  = "/var/lib/capstore"
	database = "capstore"
	// patience is how long a start waits for what is about to end or begin:
	// another command's hold, an orphan's shutdown, crash recovery.
	patience = time.Minute
)

// Serve is the role of a server, which holds its data folder until it stops.
// Every other role is a command that is soon done.
const Serve = "serve"

// Options says where the cluster is and who wants it.
type Options struct {
	Dir  string // the data folder; "" means DefaultDir
	Role string // Serve, or the command's name, to tell others who holds it
	// Roots are folders whose node_modules may hold PostgreSQL. The folder of
	// the program and the one above it are always looked at.
	Roots []string
	Log   *slog.Logger // nil means slog.Default
}

// resolve fills in what was left out, makes the folder and follows links to
// it, so that everyone who opens it spells it the same way.
func (o Options) resolve() (Options, error) {
	o.Log = cmp.Or(o.Log, slog.Default())
	o.Role = cmp.Or(o.Role, Serve)
	if o.Dir == "" {
		dir, err := DefaultDir()
		if err != nil {
			return o, err
		}
		o.Dir = dir
	}
	abs, err := filepath.Abs(o.Dir)
	if err != nil {
		return o, err
	}
	if err := makeDataFolder(abs); err != nil {
		return o, err
	}
	o.Dir, err = filepath.EvalSymlinks(abs)
	return o, err
}

// DefaultDir returns the data folder that is used when none was chosen:
// /var/lib/capstore for root, else capstore in the user's XDG data home. It is
// a fault where the user has no home.
func DefaultDir() (string, error) {
	if os.Geteuid() == 0 {
		return rootDir, nil
	}
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "capstore"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fault.New(fault.Invalid, "no_data_folder", "There is no home folder to keep data in.").
			Do("Name a folder with --data or CAPSTORE_DATA.")
	}
	return filepath.Join(home, ".local", "share", "capstore"), nil
}

// Present reports whether the folder holds a database already, without making
// anything. An error says that this user may not look.
func Present(dir string) (bool, error) {
	_, err := os.Stat(filepath.Join(dir, dataFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Cluster is a database that accepts connections, run by this process or, when
// attached, by another.
type Cluster struct {
	supervisor lifecycle.Base
	hold       *hold // nil when another process runs it
	site       site
	log        *slog.Logger
}

// Start makes the cluster if the folder has none, starts it and holds the
// folder until Stop. It waits for a command that holds the folder, but for a
// server it returns a data_folder_held fault that names the process.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	o, err := o.resolve()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	h, err := acquire(ctx, o, func(holder holder) error {
		if holder.Role == Serve {
			return held(o.Dir, holder)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return open(ctx, o, h)
}

// Attach is for commands that must work whether or not the server runs: it
// joins the server's database, or starts the cluster until Stop.
func Attach(ctx context.Context, o Options) (*Cluster, error) {
	o, err := o.resolve()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var joined *Cluster
	h, err := acquire(ctx, o, func(holder holder) error {
		data := filepath.Join(o.Dir, dataFolder)
		if f, err := readPIDFile(data); err == nil && holder.Role == Serve && f.status == "ready" && alive(f.pid) {
			joined = &Cluster{site: site{data: data, sockets: f.sockets}}
			return errJoined
		}
		return nil
	})
	if errors.Is(err, errJoined) {
		return joined, nil
	}
	if err != nil {
		return nil, err
	}
	return open(ctx, o, h)
}

// errJoined ends the wait for the folder: another process serves it.
var errJoined = errors.New("joined")

func open(ctx context.Context, o Options, h *hold) (*Cluster, error) {
	c, err := openHeld(ctx, o, h)
	if err != nil {
		h.release()
		return nil, err
	}
	return c, nil
}

func openHeld(ctx context.Context, o Options, h *hold) (*Cluster, error) {
	s, err := prepare(ctx, o)
	if err != nil {
		return nil, err
	}
	pm, err := s.start(ctx)
	if err != nil {
		return nil, err
	}
	c := &Cluster{hold: h, site: s, log: o.Log}
	// The start's context bounds the start, not the life.
	err = c.supervisor.Run(context.WithoutCancel(ctx), func(ctx context.Context, ready func()) {
		ready()
		c.supervise(ctx, pm)
	})
	return c, err
}

// supervise starts the database again when it ends by itself, such as when the
// kernel was out of memory, and stops it when ctx ends.
func (c *Cluster) supervise(ctx context.Context, pm *postmaster) {
	for {
		select {
		case <-ctx.Done():
			pm.stop()
			return
		case <-pm.exited:
		}
		c.log.ErrorContext(ctx, "database ended by itself; starting it again", "status", pm.err)
		backoff := retry.WithCappedDuration(5*time.Second, retry.NewExponential(100*time.Millisecond))
		err := retry.Do(ctx, backoff, func(ctx context.Context) (err error) {
			if pm, err = c.site.start(ctx); err != nil && ctx.Err() == nil {
				c.log.ErrorContext(ctx, "database does not start", "err", err)
			}
			return retry.RetryableError(err)
		})
		if err != nil {
			return // only ctx ends the attempts
		}
	}
}

// URL returns the address for pg.Open.
func (c *Cluster) URL() string { return socketURL(c.site.sockets, database) }

// Version returns the version of the PostgreSQL that this process started, or
// "" when attached to another's.
func (c *Cluster) Version() string { return c.site.in.Version }

// Joined reports whether another process runs the database.
func (c *Cluster) Joined() bool { return c.hold == nil }

// Stop stops the database and lets go of the folder. A cluster that another
// process runs is left alone. Stop may be called twice.
func (c *Cluster) Stop() {
	if c.hold == nil {
		return
	}
	c.supervisor.Stop()
	_ = os.Remove(c.site.sockets) // tidiness only: the next start makes it again
	c.hold.release()
}

func held(dir string, h holder) *fault.Fault {
	f := fault.New(fault.Conflict, "data_folder_held", "The data folder %s is in use by process %d (capstore %s).", dir, h.PID, h.Role)
	return f.Do("Stop that process first, or give this one another folder with --data.")
}
