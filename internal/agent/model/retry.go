package model

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/sethvargo/go-retry"
)

const (
	retries      = 4
	firstBackoff = 500 * time.Millisecond
	// longestWait is how long a provider may ask to be left alone before the
	// turn gives up instead: longer than that nobody watches a chat.
	longestWait = time.Minute
)

// retriable reports whether a status passes by itself. The provider's own word
// counts for more than the status.
func retriable(e *statusError) bool {
	switch e.Header.Get("X-Should-Retry") {
	case "true":
		return true
	case "false":
		return false
	}
	switch e.Status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return true
	}
	return e.Status >= 500
}

// waits returns the pauses between the attempts. A pause is what the provider
// asked for after the last failure, or grows from the first one, with jitter
// so that turns that failed together do not come back together.
func waits(first time.Duration, last *failure) retry.Backoff {
	if first <= 0 {
		first = firstBackoff
	}
	attempt := 0
	return retry.BackoffFunc(func() (time.Duration, bool) {
		wait := first << attempt
		attempt++
		wait -= time.Duration(rand.Int64N(int64(wait)/4 + 1))
		if last.after > 0 {
			wait = last.after
		}
		return wait, attempt > retries || wait > longestWait
	})
}

// retryAfter reads how long a provider asks to be left alone; 0 when it does
// not say, or says what is no time.
func retryAfter(h http.Header, now time.Time) time.Duration {
	for name, unit := range map[string]time.Duration{"Retry-After-Ms": time.Millisecond, "Retry-After": time.Second} {
		n, err := strconv.ParseFloat(h.Get(name), 64)
		if err == nil && n > 0 && n < float64(24*time.Hour/unit) {
			return time.Duration(n * float64(unit))
		}
	}
	at, err := http.ParseTime(h.Get("Retry-After"))
	if err != nil || !at.After(now) {
		return 0
	}
	return at.Sub(now)
}
