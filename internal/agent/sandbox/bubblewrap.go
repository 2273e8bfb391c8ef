package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// sandboxID is the user and group inside a sandbox and, when the server runs
// as root, outside too. It is nobody else's: not PostgreSQL's, not "nobody".
const sandboxID = 65533

const installBubblewrap = "Whoever runs this server installs bubblewrap 0.8 or newer (apt-get install bubblewrap) and lets unprivileged users make user namespaces."

// Bubblewrap runs each program in namespaces of its own under an unprivileged
// user, with a read-only system, a private temporary folder and no network.
type Bubblewrap struct {
	command string // bwrap, looked for at each run
	limits  Limits
	search  string // PATH for interpreters
	filter  []byte
	groups  *cgroups // nil: limits by rlimit and by watching
}

var _ Driver = (*Bubblewrap)(nil)

// BubblewrapOptions choose what a Bubblewrap runs with.
type BubblewrapOptions struct {
	Command   string // bwrap itself; "" looks on PATH
	Limits    Limits // zero means DefaultLimits
	NoCgroups bool   // limit by rlimits alone, as for a server without the right to make groups
}

// NewBubblewrap returns the driver. The error is an internal one: what the
// host lacks is said by Probe and by every run, and may be put right meanwhile.
func NewBubblewrap(o BubblewrapOptions) (*Bubblewrap, error) {
	filter, err := seccompFilter()
	if err != nil {
		return nil, err
	}
	if err := keepFiles(); err != nil {
		return nil, err
	}
	b := &Bubblewrap{
		command: cmp.Or(o.Command, "bwrap"), limits: cmp.Or(o.Limits, DefaultLimits()),
		search: os.Getenv("PATH"), filter: filter,
	}
	if !o.NoCgroups {
		b.groups = findCgroups("/proc")
	}
	return b, nil
}

// Name is "bubblewrap".
func (b *Bubblewrap) Name() string { return "bubblewrap" }

// Isolated is true.
func (b *Bubblewrap) Isolated() bool { return true }

// Probe implements Driver.
func (b *Bubblewrap) Probe(ctx context.Context) Status {
	s := Status{Driver: b.Name(), Isolated: true, Limits: "cgroup", Action: installBubblewrap}
	if b.groups == nil {
		s.Limits = "rlimit"
	}
	return probe(ctx, b, s)
}

// Run implements Driver.
func (b *Bubblewrap) Run(ctx context.Context, run Run) (Result, error) {
	if len(run.Egress) > 0 {
		return Result{}, egressUnsupported(run.Egress)
	}
	if err := run.validate(); err != nil {
		return Result{}, err
	}
	file, err := b.interpreter(run.Language)
	if err != nil {
		return Result{}, err
	}
	j := newJob(run, file, workFolder, inputFile, b.limits)
	e, err := b.execute(ctx, j)
	if err != nil {
		return Result{}, err
	}
	r := j.result(e, b.limits)
	r.Driver, r.Isolated = b.Name(), true
	return r, nil
}

// Check implements Driver.
func (b *Bubblewrap) Check(ctx context.Context, language Language, code string) error {
	file, err := b.interpreter(language)
	if err != nil {
		return err
	}
	e, err := b.execute(ctx, checkJob(language, code, file, workFolder))
	if err != nil {
		return err
	}
	return e.syntax()
}

func (b *Bubblewrap) interpreter(l Language) (string, error) {
	if _, err := b.find(); err != nil {
		return "", err
	}
	return mustFind(l, b.account(), b.search)
}

// find returns the path of bwrap.
func (b *Bubblewrap) find() (string, error) {
	file, err := exec.LookPath(b.command)
	if err != nil {
		return "", unavailable("bubblewrap (bwrap) is not installed", installBubblewrap).Because(err)
	}
	return file, nil
}

// account is whom the kernel sees: as root we step down to the sandbox's own.
func (b *Bubblewrap) account() account {
	if os.Geteuid() == 0 {
		return account{sandboxID, sandboxID}
	}
	return account{uint32(os.Geteuid()), uint32(os.Getegid())}
}

// execute starts the sandbox, holds it at its door until its limits are set,
// lets it run, and returns when nothing of it is left.
func (b *Bubblewrap) execute(ctx context.Context, j job) (ended, error) {
	if err := ctx.Err(); err != nil {
		return ended{}, err
	}
	box, err := b.prepare(j)
	if err != nil {
		return ended{}, err
	}
	defer box.close()
	m, err := b.meter()
	if err != nil {
		return ended{}, err
	}
	defer m.close()
	return supervise(ctx, j, b.limits, m, box)
}

func (b *Bubblewrap) meter() (meter, error) {
	if b.groups == nil {
		return &procMeter{limits: b.limits}, nil
	}
	g, err := b.groups.create(b.limits)
	if err != nil {
		return nil, err
	}
	return g, nil
}

// prepare lays out the sandbox without starting it.
func (b *Bubblewrap) prepare(j job) (*box, error) {
	bwrap, err := b.find()
	if err != nil {
		return nil, err
	}
	x := &box{pidfd: -1, limits: b.limits.rlimits(j.timeout, true), who: b.account()}
	infoEnd, err := x.pipes()
	if err != nil {
		x.close()
		return nil, err
	}
	l := &layout{next: 3}
	l.pass(infoEnd)
	l.pass(x.back)
	options, err := b.options(l, j)
	x.files = l.owned(x.back)
	if err != nil {
		x.close()
		return nil, err
	}
	args, err := memfile([]byte(strings.Join(options, "\x00") + "\x00"))
	if err != nil {
		x.close()
		return nil, err
	}
	l.pass(args)
	x.files = l.owned(x.back)
	// Options, the environment among them, go through a file: a command line
	// is for everyone to read. The input is there by contract.
	x.cmd = exec.Command(bwrap, append([]string{"--args", fmt.Sprint(l.next - 1), "--"}, j.argv...)...)
	x.cmd.Env = []string{} // what bwrap has, the first process inside would show
	x.cmd.Dir = "/"
	x.cmd.ExtraFiles = l.files
	x.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if os.Geteuid() == 0 {
		x.cmd.SysProcAttr.Credential = &syscall.Credential{Uid: x.who.uid, Gid: x.who.gid}
	}
	stdin, err := memfile(j.input)
	if err != nil {
		x.close()
		return nil, err
	}
	x.cmd.Stdin = stdin
	x.files = append(x.files, stdin)
	return x, nil
}
