package web

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"capstore/internal/agent"
	"capstore/views"
	"capstore/views/ui"
)

const (
	// streamFor is how long one stream lasts before the page takes it up again,
	// so that who may read is asked anew.
	streamFor = 2 * time.Minute
	// liveEvery is how often a text that is being written is sent at most.
	liveEvery = 60 * time.Millisecond
)

// chatEvents tells a page what happens in the conversation after the entry that
// it has, for as long as it is looked at.
func (s *Site) chatEvents(c *Ctx) error {
	id, err := c.chatID()
	if err != nil {
		return err
	}
	conv, err := s.Agent.Conversation(c.R.Context(), c.Actor(), id)
	if err != nil {
		return err
	}
	after := c.after()
	seen, err := s.Agent.LedgerBefore(c.R.Context(), c.Actor(), id, after+1)
	if err != nil {
		return err
	}
	st := &chatStream{site: s, id: id, events: events{c: c}, fold: c.newFold(id.String())}
	st.chat = views.Chat{Workspace: c.Who.Workspace, ID: id.String(), Title: c.chatTitle(conv)}
	for _, e := range seen {
		st.fold.add(e)
	}
	ctx, cancel := context.WithTimeout(c.R.Context(), streamFor)
	defer cancel()
	if err := st.events.open(); err != nil {
		return nil //nolint:nilerr // the reader has left
	}
	for event, err := range s.Agent.Follow(ctx, c.Actor(), id, after) {
		if err == nil {
			err = st.tell(ctx, event)
		}
		if err != nil {
			return st.events.fail(err)
		}
	}
	return nil
}

// after is the entry that the page has: what it was last told, else what it was
// drawn with.
func (c *Ctx) after() int64 {
	for _, text := range []string{c.R.Header.Get("Last-Event-ID"), c.R.URL.Query().Get("after")} {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 {
			return n
		}
	}
	return 0
}

// chatStream is one page that looks at a conversation.
type chatStream struct {
	site   *Site
	id     uuid.UUID
	events events
	fold   *chatFold
	chat   views.Chat
	live   []string // blocks that the page has, once told
	told   bool
	names  []string // of the calls that it was told are coming
}

// tell sends what an event changes on the page, if anything.
func (st *chatStream) tell(ctx context.Context, e agent.Event) error {
	switch {
	case e.Entry != nil:
		news := views.ChatNews{Changes: st.fold.add(*e.Entry)}
		if e.Entry.Kind == agent.EntryModelOutput || e.Entry.Kind == agent.EntryError || e.Entry.Kind == agent.EntryStop {
			news.Live, news.Announced = st.liveChange(""), st.announced(nil)
		}
		if e.Entry.Kind == agent.EntryApprovalAsked {
			if err := st.site.fillCards(st.events.c, st.id, st.fold); err != nil {
				return err
			}
		}
		return st.events.sendAs(strconv.FormatInt(e.Entry.Seq, 10), views.ChatNewsFragment(news))
	case e.Turn != nil:
		st.chat.State = chatState(*e.Turn)
		return st.events.send(views.ChatNewsFragment(views.ChatNews{State: &st.chat}))
	case e.Partial != nil:
		news := views.ChatNews{Live: st.liveChange(e.Partial.Text), Announced: st.announced(e.Partial.Calls)}
		if news.Live == nil && news.Announced == nil {
			return nil
		}
		if err := st.events.send(views.ChatNewsFragment(news)); err != nil {
			return err
		}
		pause(ctx, liveEvery)
	}
	return nil
}

// pause lets more come together before the next look; it ends with ctx.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// announced are the names of the calls that are coming; nil where the page has
// them.
func (st *chatStream) announced(calls []agent.Announced) *[]string {
	names := []string{}
	for _, call := range calls {
		names = append(names, call.Name)
	}
	if slices.Equal(names, st.names) {
		return nil
	}
	st.names = names
	return &names
}

// liveChange is how the blocks of the text differ from those that the page has;
// nil where they do not.
func (st *chatStream) liveChange(text string) *views.ChatLive {
	blocks := ui.MarkdownBlocks(text)
	had, told := st.live, st.told
	st.live, st.told = blocks, true
	if !told || len(blocks) < len(had) {
		return &views.ChatLive{Whole: true, Blocks: blocks}
	}
	from := 0
	for from < len(had) && had[from] == blocks[from] {
		from++
	}
	if from == len(blocks) {
		return nil
	}
	return &views.ChatLive{From: from, Sent: len(had), Blocks: blocks[from:]}
}
