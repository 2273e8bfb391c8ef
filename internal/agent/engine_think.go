package agent

import (
	"cmp"
	"context"
	"errors"
	"math/big"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"capstore/db"
	"capstore/internal/agent/model"
	"capstore/internal/fault"
)

const (
	// flushEvery is how often what a model has said so far is written down, for
	// followers on other servers and for what a kill leaves.
	flushEvery = 250 * time.Millisecond
	// maxThinking bounds the thoughts that an entry keeps.
	maxThinking = 64 << 10
)

// think asks the model for the next answer and writes it down; without a model
// it answers with what could be run.
func (r *run) think(ctx context.Context, p progress) error {
	switch {
	case r.thinker == nil:
		return r.s.note(ctx, r.one.conversation, r.one.id, EntryModelOutput,
			ModelOutput{Model: directModel, Suggestions: suggest(r.snap, r.surface, promptOf(*p.message))})
	case p.steps >= maxSteps:
		return stepLimit()
	case p.input+p.output >= maxTurnTokens:
		return tokenLimit()
	}
	if err := r.look(ctx); err != nil {
		return err
	}
	said := r.speech(p)
	out, err := said.listen(ctx, r.request())
	for fault.HasCode(err, "model_too_long") && r.forgets() {
		said = r.speech(p)
		out, err = said.listen(ctx, r.request())
	}
	if err != nil {
		return err
	}
	entry := r.outputOf(out, said)
	if err := r.answer(ctx, entry, out.Usage); err != nil {
		return err
	}
	r.s.live.say(r.one.conversation, nil)
	return ending(out)
}

// maxForget is how often a conversation that the model found too long is halved.
const maxForget = 6

// forgets leaves out more of the conversation's beginning, and reports whether
// there was more to leave out.
func (r *run) forgets() bool {
	for before := len(r.remembered()); before > 1 && r.forget < maxForget; {
		r.forget++
		if len(r.remembered()) < before {
			return true
		}
	}
	return false
}

func (r *run) speech(p progress) *speech {
	return &speech{s: r.s, partial: Partial{Turn: r.one.id, After: r.seq}, run: r, step: p.steps + 1}
}

// ending is why a turn ends with this answer although nobody would see it from
// the answer itself; nil for the others.
func ending(out model.Output) error {
	switch {
	case out.Stop == model.StopRefused:
		return &limitReached{"model_refused", "The model withheld its answer.", "Put it differently, or choose another model."}
	case len(out.Calls) > 0:
		return nil
	case out.Stop == model.StopLength:
		return &limitReached{"model_length", "The answer was cut at the model's limit.", goOn}
	case strings.TrimSpace(out.Text) == "":
		return &limitReached{"model_silent", "The model answered nothing.", "Ask again, or choose another model."}
	}
	return nil
}

// speech is one answer as it comes.
type speech struct {
	s       *Service
	run     *run
	step    int
	partial Partial
	text    strings.Builder
	thought strings.Builder

	mu     sync.Mutex
	latest string // of the text, for the flusher
}

// listen returns the whole answer. When it breaks off, what had come is written
// down, to become the turn's last words.
func (sp *speech) listen(ctx context.Context, req model.Request) (model.Output, error) {
	flush, stop := context.WithCancel(context.WithoutCancel(ctx))
	var flusher sync.WaitGroup
	flusher.Go(func() { sp.flushing(flush) })
	out, err := sp.run.thinker.model.Stream(ctx, req, sp.hear)
	stop()
	flusher.Wait()
	if err == nil {
		return out, nil
	}
	if text := cmp.Or(out.Text, sp.text.String()); text != "" {
		lost := sp.s.insist(ctx, func(ctx context.Context) error { return sp.save(ctx, text) })
		err = errors.Join(err, lost)
	}
	sp.s.live.say(sp.run.one.conversation, nil)
	return out, err
}

// hear shows a piece of the answer to whoever follows here.
func (sp *speech) hear(d model.Delta) {
	sp.text.WriteString(d.Text)
	if sp.thought.Len() < maxThinking {
		sp.thought.WriteString(d.Thinking)
	}
	if d.Call != nil {
		calls := make([]Announced, 0, len(sp.partial.Calls)+1)
		sp.partial.Calls = append(append(calls, sp.partial.Calls...), Announced{Ref: refOf(sp.step, d.Call.ID), Name: d.Call.Name})
	}
	now := sp.partial
	now.Text, now.Thinking = sp.text.String(), sp.thought.String()
	sp.mu.Lock()
	sp.latest = now.Text
	sp.mu.Unlock()
	sp.s.live.say(sp.run.one.conversation, &now)
}

func (sp *speech) flushing(ctx context.Context) {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for written := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		sp.mu.Lock()
		text := sp.latest
		sp.mu.Unlock()
		if len(text) == written {
			continue
		}
		if err := sp.save(ctx, text); err != nil {
			if ctx.Err() == nil {
				sp.s.log.WarnContext(ctx, "agent: partial answer not written", "turn", sp.run.one.id, "error", err)
			}
			continue
		}
		written = len(text)
	}
}

func (sp *speech) save(ctx context.Context, text string) error {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "")
	return queries.SavePartial(ctx, sp.s.db, db.SavePartialParams{Turn: sp.run.one.id, Text: text})
}

// refOf makes a reference that is unique in the turn out of a model's own id.
func refOf(step int, id string) string { return strconv.Itoa(step) + "/" + id }

// idOf is the model's own id of a call.
func idOf(ref string) string {
	_, id, _ := strings.Cut(ref, "/")
	return id
}

func (r *run) outputOf(out model.Output, said *speech) ModelOutput {
	entry := ModelOutput{
		Model: r.thinker.modelName(), Text: out.Text, Thinking: said.thought.String(), Stop: string(out.Stop), Opaque: out.Opaque,
		Usage: &Usage{Input: out.Usage.Input + out.Usage.CacheWrite, CachedInput: out.Usage.CachedInput, Output: out.Usage.Output},
	}
	if price, ok := priceOf(r.thinker.chosen); ok {
		entry.Usage.Cost = dollars(price.Cost(out.Usage))
	}
	seen := map[string]bool{}
	for i, c := range out.Calls {
		ref := refOf(said.step, c.ID)
		if c.ID == "" || seen[ref] {
			ref = refOf(said.step, "call_"+strconv.Itoa(i+1))
		}
		seen[ref] = true
		entry.Calls = append(entry.Calls, Requested{Ref: ref, Name: c.Name, Arguments: c.Arguments, Broken: c.Broken})
	}
	return entry
}

// answer writes the answer with what it took, in one transaction; it takes the
// place of the partial text.
func (r *run) answer(ctx context.Context, entry ModelOutput, used model.Usage) error {
	return r.s.insist(ctx, func(ctx context.Context) error {
		return r.s.commit(ctx, r.one.conversation, func(ctx context.Context, tx pgx.Tx) error {
			count := db.CountStepParams{Turn: r.one.id, Input: entry.Usage.Input, Cached: entry.Usage.CachedInput, Output: entry.Usage.Output}
			if price, ok := priceOf(r.thinker.chosen); ok {
				count.Cost = pgtype.Numeric{Int: big.NewInt(price.Cost(used)), Exp: -6, Valid: true}
			}
			if err := queries.CountStep(ctx, tx, count); err != nil {
				return err
			}
			if err := r.s.hold(ctx, tx, r.one.id); err != nil {
				return err
			}
			if _, err := queries.TakePartial(ctx, tx, r.one.id); err != nil && !errors.Is(err, pgx.ErrNoRows) {
				return err
			}
			_, err := write(ctx, tx, r.one.conversation, r.one.id, EntryModelOutput, nil, entry)
			return err
		})
	})
}

// dollars writes micro-dollars as a decimal without needless zeros.
func dollars(micro int64) string {
	whole, part := micro/1_000_000, strconv.FormatInt(micro%1_000_000+1_000_000, 10)[1:]
	part = strings.TrimRight(part, "0")
	if part == "" {
		return strconv.FormatInt(whole, 10)
	}
	return strconv.FormatInt(whole, 10) + "." + part
}
