package sandbox

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// However a text is cut into writes, nobody who reads between them sees a part
// of the secret, and everybody sees all of the rest in the end.
func TestLiveShowsNoPartOfASecret(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-hunter2"
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom([]string{"hun", "ter2", "-", "hunter2", secret, "x", "\n"}), 0, 12).Draw(t, "pieces")
		live, all := NewLive([]string{secret}), ""
		for _, piece := range pieces {
			all += piece
			_, _ = live.out().Write([]byte(piece))
			got, _ := live.Text()
			masked := live.mask.Text(all)
			if strings.Contains(got, secret) || !strings.HasPrefix(strings.ReplaceAll(masked, Masked, secret), strings.ReplaceAll(got, Masked, secret)) {
				t.Fatalf("%q is shown of %q", got, masked)
			}
		}
		_, _ = live.out().Write([]byte("."))
		if got, _ := live.Text(); got != live.mask.Text(all+".") {
			t.Fatalf("%q in the end, want %q", got, live.mask.Text(all+"."))
		}
	})
}

func TestLiveKeepsTheEnd(t *testing.T) {
	t.Parallel()
	live := NewLive(nil)
	for range 3 * MaxLog / 100 {
		_, _ = live.err().Write([]byte(strings.Repeat("e", 100)))
	}
	_, _ = live.err().Write([]byte("the end"))
	if out, err := live.Text(); out != "" || len(err) > MaxLog || !strings.HasSuffix(err, "the end") {
		t.Errorf("%d bytes of output, %d of errors", len(out), len(err))
	}
}
