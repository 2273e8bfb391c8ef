package sandbox

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"capstore/internal/fault"
)

// job is a run made ready for a driver: what lies where, and what is executed.
type job struct {
	argv    []string // absolute, inside the sandbox
	env     []string
	files   []File // relative to the working folder
	input   []byte
	timeout time.Duration
	mask    *Mask
	live    *Live // nil when nobody watches
}

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// newJob lays out a valid run for a working folder, an input file and an
// interpreter, given by the paths at which the program will see them.
func newJob(run Run, file, work, input string, l Limits) job {
	in := interpreters[run.Language]
	j := job{
		files: append(slices.Clone(run.Files), File{Path: "main" + in.suffix, Data: []byte(run.Code)}),
		input: run.Input, timeout: run.Timeout, env: environment(run.Env, work, input), live: run.Live,
	}
	if len(bytes.TrimSpace(j.input)) == 0 {
		j.input = []byte("{}")
	}
	if j.timeout == 0 {
		j.timeout = DefaultTimeout
	}
	j.argv = append([]string{file}, in.run...)
	if run.Language == Node {
		// A heap limit below the hard one turns a kill into a message.
		j.argv = append(j.argv, fmt.Sprintf("--max-old-space-size=%d", l.Memory>>20*3/4))
	}
	j.argv = append(j.argv, path.Join(work, "main"+in.suffix))
	if len(j.input) <= MaxArgument {
		j.argv = append(j.argv, string(j.input))
	}
	secrets := make([]string, 0, len(run.Env))
	for _, v := range run.Env {
		secrets = append(secrets, v)
	}
	j.mask = NewMask(secrets)
	return j
}

// checkJob lays out a parse of the code.
func checkJob(l Language, code, file, work string) job {
	in := interpreters[l]
	main := "main" + in.suffix
	return job{
		argv:  append(append([]string{file}, in.check...), path.Join(work, main)),
		env:   environment(nil, work, ""),
		files: []File{{Path: main, Data: []byte(code)}},
		input: []byte("{}"), timeout: DefaultTimeout, mask: NewMask(nil),
	}
}

// environment is all that a program finds in its environment.
func environment(bound map[string]string, work, input string) []string {
	env := []string{
		"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "TZ=UTC",
		"HOME=" + work, "PYTHONDONTWRITEBYTECODE=1", "CAPSTORE_INPUT=" + input,
	}
	for name, value := range bound {
		env = append(env, name+"="+value)
	}
	return env
}

// validate returns an Invalid fault for a run that no driver can take.
func (r Run) validate() error {
	var faults []fault.Field
	add := func(path, format string, args ...any) {
		faults = append(faults, fault.Field{Path: path, Code: CodeInvalidRun, Message: fmt.Sprintf(format, args...)})
	}
	if _, ok := interpreters[r.Language]; !ok {
		add("/language", "There is no language %q; there are python, node and bash.", r.Language)
	}
	if r.Timeout < 0 || r.Timeout > MaxTimeout {
		add("/timeout", "The time limit is between 1 and %d seconds.", int(MaxTimeout.Seconds()))
	}
	if len(r.Input) > MaxInput {
		add("/input", "The input is larger than %d MiB.", MaxInput>>20)
	} else if len(r.Input) > 0 && !json.Valid(r.Input) {
		add("/input", "The input is not JSON.")
	}
	size := 0
	for name, value := range r.Env {
		size += len(name) + len(value) + 2
		if !variable.MatchString(name) || name == "CAPSTORE_INPUT" {
			add("/env/"+name, "This cannot be the name of an environment variable.")
		} else if strings.ContainsRune(value, 0) {
			add("/env/"+name, "An environment variable cannot hold a NUL byte.")
		}
	}
	if size > MaxEnvironment {
		add("/env", "The secrets are larger than %d KiB together.", MaxEnvironment>>10)
	}
	faults = append(faults, r.fileFaults()...)
	return fault.Fields(faults)
}

func (r Run) fileFaults() []fault.Field {
	var faults []fault.Field
	add := func(i int, message string) {
		faults = append(faults, fault.Field{Path: fmt.Sprintf("/files/%d/path", i), Code: CodeInvalidRun, Message: message})
	}
	if len(r.Files) > MaxFiles {
		return []fault.Field{{Path: "/files", Code: CodeInvalidRun, Message: fmt.Sprintf("There are more than %d files.", MaxFiles)}}
	}
	seen := map[string]bool{"main" + interpreters[r.Language].suffix: true}
	size := len(r.Code)
	for i, f := range r.Files {
		size += len(f.Data)
		switch {
		case !fs.ValidPath(f.Path) || f.Path == "." || strings.ContainsAny(f.Path, "\\\x00"):
			add(i, "A file's path is relative, with forward slashes and without '..'.")
		case seen[f.Path]:
			add(i, "Two files have this path, or it is the code's own.")
		}
		seen[f.Path] = true
	}
	if size > MaxFileBytes {
		faults = append(faults, fault.Field{
			Path: "/files", Code: CodeInvalidRun,
			Message: fmt.Sprintf("The code and its files are larger than %d MiB together.", MaxFileBytes>>20),
		})
	}
	return faults
}

// ended is how a program came to its end.
type ended struct {
	code      int
	stopped   *fault.Fault // why it was stopped, nil when it ended by itself
	use       usage
	stdout    []byte
	stderr    string
	stderrCut bool
	took      time.Duration
}

// result reads what the program left behind, and masks every secret in it.
func (j job) result(e ended, l Limits) Result {
	r := Result{ExitCode: e.code, Duration: e.took, Failure: e.stopped}
	out := Output{Log: e.stdout}
	switch {
	case e.stopped != nil:
	case e.code != 0:
		r.Failure = classify(e.code, e.use, e.stderr, l)
	default:
		var found bool
		if out, found = ParseOutput(e.stdout); !found {
			r.Failure = failNoResult()
		}
	}
	if out.Value != nil {
		r.Value = j.mask.JSON(out.Value)
		r.Content, r.IsError = asToolResult(r.Value)
	}
	r.IsError = r.IsError || r.Failure != nil
	r.Log, _ = lastBytes(j.mask.Text(string(out.Log)), MaxLog, false)
	if e.stderrCut {
		r.Stderr = j.mask.Tail(e.stderr)
	} else {
		r.Stderr = j.mask.Text(e.stderr)
	}
	r.Log, r.Stderr = strings.ToValidUTF8(r.Log, "\uFFFD"), strings.ToValidUTF8(r.Stderr, "\uFFFD")
	return r
}

var (
	syntaxLine = regexp.MustCompile(`main\.(?:py", line |sh: line |js:)(\d+)`)
	syntaxWhat = regexp.MustCompile(`(?m)^(?:\w*Error: .*|\S*main\.sh: line \d+: (.*))$`)
)

// syntax returns nil for a parse that went well, else an Invalid fault with
// the place and the interpreter's own words.
func (e ended) syntax() error {
	if e.stopped != nil {
		return e.stopped
	}
	if e.code == 0 {
		return nil
	}
	message := "The code does not parse."
	if m := syntaxWhat.FindAllStringSubmatch(e.stderr, -1); m != nil {
		message = cmp.Or(m[0][1], m[len(m)-1][0])
	}
	f := fault.Field{Path: "/code", Code: CodeSyntax, Message: message}
	if m := syntaxLine.FindStringSubmatch(e.stderr); m != nil {
		f.Message = "Line " + m[1] + ": " + message
	}
	return fault.Fields([]fault.Field{f})
}
