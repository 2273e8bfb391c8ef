package pg

import (
	"slices"
	"sync"
)

// most is how many different changes a subscription remembers before it says
// no more than that everything may have changed.
const most = 10_000

// News is what a subscriber has not taken yet.
type News struct {
	// Changes holds each change once, in no order.
	Changes []Change
	// All says that some changes are not listed: look at everything.
	All bool
}

// Subscription collects changes for one reader. A slow reader costs the feed
// nothing: it finds the changes of the meantime together.
type Subscription struct {
	topics []string // nil for every topic
	wake   chan struct{}
	close  func()

	mu      sync.Mutex
	changes map[Change]struct{}
	all     bool
}

// Wake receives once after one or many changes; then Take tells which.
func (s *Subscription) Wake() <-chan struct{} { return s.wake }

// Take returns what came since the last Take and forgets it.
func (s *Subscription) Take() News {
	s.mu.Lock()
	defer s.mu.Unlock()
	news := News{All: s.all}
	for c := range s.changes {
		news.Changes = append(news.Changes, c)
	}
	s.changes, s.all = nil, false
	return news
}

// Close ends the subscription. It may be called twice.
func (s *Subscription) Close() { s.close() }

func (s *Subscription) deliver(changes []Change, all bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.changes)
	for _, c := range changes {
		if s.topics != nil && !slices.Contains(s.topics, c.Topic) {
			continue
		}
		if s.changes == nil {
			s.changes = map[Change]struct{}{}
		}
		s.changes[c] = struct{}{}
	}
	if len(s.changes) > most {
		s.changes, all = nil, true
	}
	s.all = s.all || all
	if len(s.changes) == before && !all {
		return
	}
	select {
	case s.wake <- struct{}{}:
	default: // a wake-up is under way already
	}
}
