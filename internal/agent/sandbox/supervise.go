package sandbox

import (
	"context"
	"errors"
	"os"
	"time"

	"capstore/internal/fault"
)

// process is one started program with all that it starts.
type process interface {
	// start begins the program with the streams and puts it under the meter.
	start(stdout, stderr *os.File, m meter) error
	// kill ends all of it; it may be called at any time, and twice.
	kill()
	// wait returns the exit code once nothing of it is left.
	wait() int
	// failure returns why the program never came to run, nil when it did.
	failure(stderr string) error
}

// How often a run is looked at, and how long it may stay at its process limit
// before it is stopped: a bomb that keeps spinning would last until the time
// limit.
const (
	lookEvery    = 100 * time.Millisecond
	processGrace = 2 * time.Second
)

// supervise runs a program to its end, whichever comes first: its own, its
// time limit, a limit of the meter, too much output, or the caller's context.
func supervise(ctx context.Context, j job, l Limits, m meter, p process) (ended, error) {
	begin := time.Now()
	run, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	stdout := &head{limit: MaxOutput, full: func() { stop(failOutput()) }}
	stderr := &tail{limit: MaxLog}
	out, err := newDrain(j.watched(stdout, (*Live).out))
	if err != nil {
		return ended{}, err
	}
	errs, err := newDrain(j.watched(stderr, (*Live).err))
	if err != nil {
		out.write.Close()
		return ended{}, err
	}
	err = p.start(out.write, errs.write, m)
	out.write.Close()
	errs.write.Close()
	watched := make(chan struct{})
	if err != nil {
		p.kill()
		close(watched)
	} else {
		go func() {
			defer close(watched)
			watch(run, stop, j.timeout, l, m)
			p.kill()
		}()
	}
	code := p.wait()
	stopped := context.Cause(run)
	stop(nil)
	<-watched
	use := m.sample()
	<-out.done
	<-errs.done
	e := ended{code: code, use: use, stdout: stdout.buf, took: time.Since(begin)}
	e.stderr, e.stderrCut = stderr.text()
	return e.conclude(ctx, err, stopped, p)
}

// conclude tells apart our own failures, the caller's, and the program's.
func (e ended) conclude(ctx context.Context, startErr, stopped error, p process) (ended, error) {
	if stopped != nil && stopped == context.Cause(ctx) {
		return ended{}, ctx.Err()
	}
	if errors.Is(startErr, errNoBox) {
		return ended{}, noBox(e.stderr)
	}
	if startErr != nil {
		return ended{}, startErr
	}
	if errors.As(stopped, &e.stopped) {
		return e, nil
	}
	return e, p.failure(e.stderr)
}

// watch returns when the run has ended or must be; stop has the reason.
func watch(run context.Context, stop context.CancelCauseFunc, timeout time.Duration, l Limits, m meter) {
	end := time.NewTimer(timeout)
	defer end.Stop()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	var since time.Time
	for {
		select {
		case <-run.Done():
			return
		case <-end.C:
			stop(timeoutOf(m.sample(), timeout, l))
			return
		case now := <-look.C:
			use := m.sample()
			if use.oomKilled {
				stop(failMemory(l))
				return
			}
			if use.processesHit && since.IsZero() {
				since = now
			}
			if !since.IsZero() && now.Sub(since) > processGrace {
				stop(failProcesses(l))
				return
			}
		}
	}
}

// timeoutOf prefers the limit that kept a program from ending to the time
// that it then used up.
func timeoutOf(use usage, timeout time.Duration, l Limits) *fault.Fault {
	if use.processesHit {
		return failProcesses(l)
	}
	return failTimeout(timeout)
}
