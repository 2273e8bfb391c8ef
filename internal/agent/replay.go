package agent

import (
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"capstore/internal/registry"
)

// line is a ledger entry, decoded once. At most one of the pointers is set, by
// the entry's kind.
type line struct {
	Entry
	message *Message
	output  *ModelOutput
	called  *ToolCall
	result  *ToolResult
	hook    *HookOutcome
	failure *Failure
	delta   *registry.Delta
}

func readLine(e Entry) (line, error) {
	l := line{Entry: e}
	var into any
	switch e.Kind {
	case EntryMessage:
		l.message = new(Message)
		into = l.message
	case EntryModelOutput:
		l.output = new(ModelOutput)
		into = l.output
	case EntryToolCall:
		l.called = new(ToolCall)
		into = l.called
	case EntryToolResult:
		l.result = new(ToolResult)
		into = l.result
	case EntryHookOutcome:
		l.hook = new(HookOutcome)
		into = l.hook
	case EntryError, EntryStop:
		l.failure = new(Failure)
		into = l.failure
	case EntryEpochChanged:
		l.delta = new(registry.Delta)
		into = l.delta
	default:
		return l, nil
	}
	if err := json.Unmarshal(e.Payload, into); err != nil {
		return l, fmt.Errorf("ledger entry %d (%s) cannot be read: %w", e.Seq, e.Kind, err)
	}
	return l, nil
}

// progress is where a turn stands: a function of its entries and of nothing
// else, so that any server can go on with it.
type progress struct {
	message *Message
	// last is the newest answer; nil before the first one.
	last  *ModelOutput
	steps int // answers so far
	// pending are the calls wanted by the newest answer, or by the message, that
	// have neither started nor ended, in their order.
	pending []Requested
	// lost are those that have started and have no result. While the turn's own
	// server works on it there are none between two steps.
	lost []Requested
	// results answer the calls of the newest answer, in no order.
	results []ToolResult
	// failures counts the failed calls of the turn by what was wanted.
	failures map[string]int
	loads    []string // deferred tools that results of the turn made known
	input    int64    // tokens read in all steps, cached ones too
	output   int64
	ended    bool // a stop or an error stands in the ledger
}

// progressOf reads the entries of one turn. Entries of other turns are passed
// over.
func progressOf(turn uuid.UUID, lines []line) progress {
	p := progress{failures: map[string]int{}}
	wanted, state, asked := []Requested(nil), map[string]callState{}, map[string]Requested{}
	for _, l := range lines {
		if l.Turn != turn {
			continue
		}
		switch {
		case l.message != nil:
			p.message, wanted = l.message, l.message.Calls
		case l.output != nil:
			p.last, wanted = l.output, l.output.Calls
			p.steps++
			p.results = nil
			for _, w := range wanted {
				asked[w.Ref] = w
			}
			if u := l.output.Usage; u != nil {
				p.input, p.output = p.input+u.Input+u.CachedInput, p.output+u.Output
			}
		case l.called != nil:
			state[l.called.Ref] = callStarted
		case l.result != nil:
			state[l.result.Ref] = callEnded
			p.results = append(p.results, *l.result)
			if w, ok := asked[l.result.Ref]; ok && l.result.IsError {
				p.failures[w.what()]++
			}
			p.loads = append(p.loads, l.result.Loads...)
		case l.failure != nil:
			p.ended = true
		}
	}
	for _, w := range wanted {
		switch state[w.Ref] {
		case callWanted:
			p.pending = append(p.pending, w)
		case callStarted:
			p.lost = append(p.lost, w)
		}
	}
	return p
}

// what is the call without its reference: equal for the same call again.
func (w Requested) what() string { return w.Name + "\x00" + string(w.Arguments) + "\x00" + w.Broken }

// callState is how far a requested call has come.
type callState int

const (
	callWanted callState = iota
	callStarted
	callEnded
)

// next is what a turn does next.
type next int

const (
	nextEnd   next = iota
	nextCalls      // run what is pending
	nextThink      // ask the model, or answer without one
)

// next decides from the progress; thinks says that a model answers what the
// member did by hand, too.
func (p progress) next(thinks bool) next {
	switch {
	case p.ended || p.message == nil:
		return nextEnd
	case len(p.pending) > 0:
		return nextCalls
	case p.last == nil && len(p.message.Calls) > 0 && !thinks:
		return nextEnd
	case p.last == nil || len(p.last.Calls) > 0:
		return nextThink
	}
	return nextEnd
}
