package sandbox_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"capstore/internal/agent/sandbox"
)

// scripts are small tools as people write them: read the input, use a library,
// answer.
var scripts = map[sandbox.Language]string{
	sandbox.Python: "import json, re, datetime, sys\nd = json.load(sys.stdin)\nprint(json.dumps({'n': len(re.findall('a', d['text'])), 'y': datetime.date(2020, 1, 1).year}))",
	sandbox.Node:   "const d = JSON.parse(require('fs').readFileSync(0)); console.log(JSON.stringify({n: d.text.split('a').length}))",
}

// BenchmarkCall compares a call in bubblewrap with the bare interpreter on the
// same script; the figure to watch is x-bare.
func BenchmarkCall(b *testing.B) {
	d := bubblewrap(b, sandbox.BubblewrapOptions{})
	input := []byte(`{"text":"banana"}`)
	for _, lang := range []sandbox.Language{sandbox.Python, sandbox.Node} {
		b.Run(string(lang), func(b *testing.B) {
			command, suffix := "/usr/bin/python3", ".py"
			if lang == sandbox.Node {
				command, suffix = "/usr/bin/node", ".js"
			}
			file := filepath.Join(b.TempDir(), "main"+suffix)
			if err := os.WriteFile(file, []byte(scripts[lang]), 0o600); err != nil {
				b.Fatal(err)
			}
			var bare, boxed []time.Duration
			for b.Loop() {
				boxed = append(boxed, timed(func() {
					r, err := d.Run(context.Background(), sandbox.Run{Language: lang, Code: scripts[lang], Input: input})
					if err != nil || r.Failure != nil {
						b.Fatal(err, r.Failure, r.Stderr)
					}
				}))
				bare = append(bare, timed(func() {
					cmd := exec.Command(command, file)
					// The developer's own settings would slow it, not us.
					cmd.Env = []string{"PATH=/usr/bin:/bin", "LANG=C.UTF-8", "TZ=UTC", "PYTHONDONTWRITEBYTECODE=1"}
					cmd.Stdin = bytes.NewReader(input)
					if _, err := cmd.Output(); err != nil {
						b.Fatal(err)
					}
				}))
			}
			b.ReportMetric(float64(median(boxed))/float64(median(bare)), "x-bare")
			b.ReportMetric(float64((median(boxed) - median(bare)).Microseconds()), "µs-added")
		})
	}
}

func timed(f func()) time.Duration {
	begin := time.Now()
	f()
	return time.Since(begin)
}

// median is steadier than the mean on a machine that does other things too.
func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
