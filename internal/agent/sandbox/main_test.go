package sandbox_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain gives the server an environment with secrets of its own, which no
// program may see.
func TestMain(m *testing.M) {
	os.Setenv("CAPSTORE_SECRET_KEY", "storekey-canary")
	os.Setenv("CAPSTORE_DATABASE_URL", "postgres://storekey-canary@host/db")
	goleak.VerifyTestMain(m)
}
