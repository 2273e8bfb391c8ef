package ops

import (
	"strconv"

	"capstore/internal/agent"
)

// Events is an output that is told while it happens: it calls send for each
// event, in order, until there are no more or send fails.
type Events func(send func(Happening) error) error

// Happening is one event: its name, the id to go on from, "" where there is
// none, and its data as JSON encodes it.
type Happening struct {
	Name string
	ID   string
	Data any
}

// PartialAnswer is what a model has said so far in a step that runs.
type PartialAnswer struct {
	Turn  string   `json:"turn"`
	Text  string   `json:"text" doc:"The whole of it; it takes the place of the one before."`
	Calls []string `json:"calls" doc:"Tools whose arguments are being written."`
}

// happening is an event of a conversation: entry, partial or turn.
func happening(e agent.Event) Happening {
	switch {
	case e.Entry != nil:
		return Happening{Name: "entry", ID: strconv.FormatInt(e.Entry.Seq, 10), Data: e.Entry}
	case e.Partial != nil:
		out := PartialAnswer{Turn: e.Partial.Turn.String(), Text: e.Partial.Text, Calls: []string{}}
		for _, call := range e.Partial.Calls {
			out.Calls = append(out.Calls, call.Name)
		}
		return Happening{Name: "partial", Data: out}
	}
	return Happening{Name: "turn", Data: turnOf(*e.Turn)}
}
