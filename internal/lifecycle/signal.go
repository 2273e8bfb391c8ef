package lifecycle

// Signal tells a test that a point of interest was passed. The zero value is
// what production has: sending costs one comparison and keeps nothing.
type Signal[T any] struct {
	ch chan T
}

// signalsKept is how many signals wait for a test to read them; further ones
// are dropped, so that a loop never waits for a test.
const signalsKept = 100

// Listen arms the signal and returns what it sends. Call it before the
// service starts.
func (s *Signal[T]) Listen() <-chan T {
	if s.ch == nil {
		s.ch = make(chan T, signalsKept)
	}
	return s.ch
}

// Send reports v to whoever listens.
func (s *Signal[T]) Send(v T) {
	if s.ch == nil {
		return
	}
	select {
	case s.ch <- v:
	default:
	}
}
