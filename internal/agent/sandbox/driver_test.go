package sandbox_test

import (
	"testing"

	"capstore/internal/agent/sandbox"
	"capstore/internal/agent/sandbox/sandboxtest"
)

func bubblewrap(t testing.TB, o sandbox.BubblewrapOptions) *sandbox.Bubblewrap {
	t.Helper()
	d, err := sandbox.NewBubblewrap(o)
	if err != nil {
		t.Fatalf("NewBubblewrap: %v", err)
	}
	return d
}

func TestBubblewrap(t *testing.T) {
	t.Parallel()
	sandboxtest.Run(t, func(t *testing.T, l sandbox.Limits) sandbox.Driver {
		return bubblewrap(t, sandbox.BubblewrapOptions{Limits: l})
	})
}

func TestBubblewrapWithoutGroups(t *testing.T) {
	t.Parallel()
	sandboxtest.Run(t, func(t *testing.T, l sandbox.Limits) sandbox.Driver {
		return bubblewrap(t, sandbox.BubblewrapOptions{Limits: l, NoCgroups: true})
	})
}

func TestHost(t *testing.T) {
	t.Parallel()
	sandboxtest.Run(t, func(t *testing.T, l sandbox.Limits) sandbox.Driver {
		d, err := sandbox.NewHost(sandbox.HostOptions{Folder: t.TempDir(), Limits: l})
		if err != nil {
			t.Fatalf("NewHost: %v", err)
		}
		return d
	})
}
