package lifecycletest

import (
	"os"
	"runtime"
	"strconv"
)

// Rounds is how long a soak goes on: the short number in the ordinary tests, as
// many as CAPSTORE_SOAK says under make soak.
func Rounds(short int) int {
	if n, err := strconv.Atoi(os.Getenv("CAPSTORE_SOAK")); err == nil && n > short {
		return n
	}
	return short
}

// Heap is how many bytes are in use after everything that can go has gone.
func Heap() uint64 {
	for range 3 {
		runtime.GC() // cleanups run after one, what they let go goes with the next
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
