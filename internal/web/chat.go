package web

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"capstore/internal/agent"
	"capstore/internal/fault"
	"capstore/views"
	"capstore/views/ui"
)

// quickly is how long a message is waited for before the page shows it as
// running. Most tools are done by then.
const quickly = 2 * time.Second

func (s *Site) chatRoutes() []Route {
	return []Route{
		{Method: "GET", Pattern: "/{workspace}/chat", Access: Member, handler: s.chatIndex},
		{Method: "POST", Pattern: "/{workspace}/chat", Access: Member, handler: s.chatStart},
		{Method: "GET", Pattern: "/{workspace}/chat/panel", Access: Member, handler: s.chatPanel},
		{Method: "GET", Pattern: "/{workspace}/chat/composer", Access: Member, handler: s.chatComposer},
		{Method: "GET", Pattern: "/{workspace}/chat/complete", Access: Member, handler: s.chatComplete},
		{Method: "GET", Pattern: "/{workspace}/chat/{id}", Access: Member, handler: s.chatShow},
		{Method: "POST", Pattern: "/{workspace}/chat/{id}", Access: Member, handler: s.chatSay},
		{Method: "GET", Pattern: "/{workspace}/chat/{id}/events", Access: Member, handler: s.chatEvents},
		{Method: "GET", Pattern: "/{workspace}/chat/{id}/older", Access: Member, handler: s.chatOlder},
		{Method: "POST", Pattern: "/{workspace}/chat/{id}/stop", Access: Member, handler: s.chatStop},
		{Method: "POST", Pattern: "/{workspace}/chat/{id}/delete", Access: Member, handler: s.chatDelete},
		{Method: "GET", Pattern: "/{workspace}/chat/{id}/turns/{turn}", Access: Member, handler: s.turnPage},
		{Method: "GET", Pattern: "/{workspace}/chat/{id}/artifacts/{artifact}", Access: Member, handler: s.chatArtifact},
		{Method: "GET", Pattern: "/{workspace}/chat/{id}/artifacts/{artifact}/images/{block}", Access: Member, handler: s.chatImage},
	}
}

// chatID is the conversation that the path names; what is no id is missing.
func (c *Ctx) chatID() (uuid.UUID, error) {
	id, err := uuid.Parse(c.R.PathValue("id"))
	if err != nil {
		return uuid.Nil, fault.Missing()
	}
	return id, nil
}

func (s *Site) chatIndex(c *Ctx) error {
	composer, err := s.composer(c, agent.Conversation{}, views.Form{})
	if err != nil {
		return err
	}
	return s.showChatIndex(c, http.StatusOK, composer)
}

func (s *Site) showChatIndex(c *Ctx, status int, composer views.Composer) error {
	links, err := s.chatLinks(c, "", 50)
	if err != nil {
		return err
	}
	page := c.Page(c.T("chat.title"), views.NavChat)
	page.ChatPath = "" // the composer is on the page
	return c.Render(status, views.ChatIndexPage(page, views.ChatIndex{Workspace: c.Who.Workspace, Composer: composer, Conversations: links}))
}

// chatLinks are the newest conversations, the current one marked.
func (s *Site) chatLinks(c *Ctx, current string, limit int) ([]views.ChatLink, error) {
	list, err := s.Agent.Conversations(c.R.Context(), c.Actor())
	if err != nil {
		return nil, err
	}
	var out []views.ChatLink
	for _, conv := range list[:min(len(list), limit)] {
		id := conv.ID.String()
		out = append(out, views.ChatLink{ID: id, Title: c.chatTitle(conv), At: conv.UpdatedAt, Current: id == current})
	}
	return out, nil
}

func (c *Ctx) chatTitle(conv agent.Conversation) string {
	if conv.Title == "" {
		return c.T("chat.untitled")
	}
	return conv.Title
}

func (s *Site) chatShow(c *Ctx) error {
	return s.showChat(c, http.StatusOK, nil)
}

// showChat shows a conversation with its composer, or with the one given.
func (s *Site) showChat(c *Ctx, status int, composer *views.Composer) error {
	id, err := c.chatID()
	if err != nil {
		return err
	}
	chat, err := s.chat(c, id, composer)
	if err != nil {
		return err
	}
	c.rememberChat(chat.ID)
	page := c.Page(chat.Title, views.NavChat)
	page.ChatPath = "" // the conversation is the page
	page.Crumbs = []ui.Crumb{{Label: c.T("chat.title"), Href: views.ChatPath(c.Who.Workspace)}, {Label: chat.Title}}
	return c.Render(status, views.ChatPage(page, chat))
}

// chat is a conversation as it stands, or the part of it before an entry that
// the address asks for.
func (s *Site) chat(c *Ctx, id uuid.UUID, composer *views.Composer) (views.Chat, error) {
	ctx, before := c.R.Context(), c.before()
	conv, err := s.Agent.Conversation(ctx, c.Actor(), id)
	if err != nil {
		return views.Chat{}, err
	}
	chat := views.Chat{Workspace: c.Who.Workspace, ID: id.String(), Title: c.chatTitle(conv), Past: before > 0}
	if err := s.fillChat(c, &chat, id, before); err != nil || chat.Past {
		return chat, err
	}
	turn, err := s.Agent.Turn(ctx, c.Actor(), id)
	if err != nil {
		return views.Chat{}, err
	}
	chat.State = chatState(turn)
	if composer == nil {
		made, err := s.composer(c, conv, views.Form{})
		if err != nil {
			return views.Chat{}, err
		}
		composer = &made
	}
	chat.Composer = *composer
	return chat, nil
}

// fillChat reads the entries before a number, or the newest for 0.
func (s *Site) fillChat(c *Ctx, chat *views.Chat, id uuid.UUID, before int64) error {
	entries, err := s.Agent.LedgerBefore(c.R.Context(), c.Actor(), id, before)
	if err != nil {
		return err
	}
	fold := c.newFold(chat.ID)
	for _, e := range entries {
		fold.add(e)
		chat.LastSeq = e.Seq
	}
	if err := s.fillCards(c, id, fold); err != nil {
		return err
	}
	if chat.Items = fold.items; len(entries) > 0 && entries[0].Seq > 1 {
		chat.Older = entries[0].Seq
	}
	return nil
}

// fillCards puts the open questions in full where their calls stand.
func (s *Site) fillCards(c *Ctx, id uuid.UUID, fold *chatFold) error {
	waiting := fold.waiting()
	if len(waiting) == 0 {
		return nil
	}
	asked, err := s.Agent.ApprovalsOf(c.R.Context(), c.Actor(), id, slices.Collect(maps.Keys(waiting)))
	for approval, call := range waiting {
		if a, ok := asked[approval]; ok && a.Open() {
			card := c.approvalCard(a, views.ConversationPath(c.Who.Workspace, id.String()))
			call.Approval.Card = &card
		}
	}
	return err
}

func chatState(t agent.TurnStatus) views.ChatState {
	if !t.State.Open() {
		return views.ChatState{}
	}
	return views.ChatState{Name: string(t.State), Since: t.StartedAt, Model: t.Model}
}

// chatOlder is what stands before an entry, for the head of the log.
func (s *Site) chatOlder(c *Ctx) error {
	id, err := c.chatID()
	if err != nil {
		return err
	}
	if _, err := s.Agent.Conversation(c.R.Context(), c.Actor(), id); err != nil {
		return err
	}
	chat := views.Chat{Workspace: c.Who.Workspace, ID: id.String()}
	if err := s.fillChat(c, &chat, id, c.before()); err != nil {
		return err
	}
	return c.Render(http.StatusOK, views.ChatItems(chat))
}

// chatStart says the first message of a new conversation.
func (s *Site) chatStart(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	ask, problem := s.readAsk(c, form)
	if problem != nil {
		return s.unsaid(c, agent.Conversation{}, form, problem)
	}
	conv, err := s.Agent.NewConversation(c.R.Context(), c.Actor())
	if err != nil {
		return err
	}
	if err := s.say(c, conv, form, ask); err != nil {
		// Nothing was said, so nothing of it stays.
		if gone := s.Agent.DeleteConversation(c.R.Context(), c.Actor(), conv.ID); gone != nil {
			return gone
		}
		return s.unsaid(c, agent.Conversation{}, form, err)
	}
	if c.Htmx() && c.inPanel() {
		c.W.Header().Set("HX-Retarget", "#chat-panel-body")
		c.W.Header().Set("HX-Reswap", "innerHTML")
		return s.showPanel(c, conv.ID)
	}
	return c.Redirect(views.ConversationPath(c.Who.Workspace, conv.ID.String()))
}

// chatSay says the next message. By script the answer is an empty composer:
// what is said arrives by the conversation's stream.
func (s *Site) chatSay(c *Ctx) error {
	id, err := c.chatID()
	if err != nil {
		return err
	}
	conv, err := s.Agent.Conversation(c.R.Context(), c.Actor(), id)
	if err != nil {
		return err
	}
	form, err := c.Form()
	if err != nil {
		return err
	}
	ask, problem := s.readAsk(c, form)
	if problem == nil {
		problem = s.say(c, conv, form, ask)
	}
	if problem != nil {
		return s.unsaid(c, conv, form, problem)
	}
	if !c.Htmx() {
		return c.Redirect(views.ConversationPath(c.Who.Workspace, id.String()))
	}
	if conv, err = s.Agent.Conversation(c.R.Context(), c.Actor(), id); err != nil {
		return err
	}
	composer, err := s.composer(c, conv, views.Form{})
	if err != nil {
		return err
	}
	return c.Render(http.StatusOK, views.ComposerBox(composer))
}

// say begins a turn, with the model and mode that were picked for it. Without
// script it waits for a quick end.
func (s *Site) say(c *Ctx, conv agent.Conversation, form map[string][]string, ask agent.Ask) error {
	ctx := c.R.Context()
	if err := s.chooseFor(c, conv, form); err != nil {
		return err
	}
	_, done, err := s.Agent.Begin(ctx, c.Actor(), conv.ID, ask)
	if err != nil || c.Htmx() {
		return err
	}
	wait, cancel := context.WithTimeout(ctx, quickly)
	defer cancel()
	select {
	case <-done:
	case <-wait.Done():
	}
	return nil
}

// unsaid shows what was typed again, with why it was not taken.
func (s *Site) unsaid(c *Ctx, conv agent.Conversation, form map[string][]string, problem error) error {
	f := fault.From(problem)
	switch f.Kind {
	case fault.Invalid, fault.Limited, fault.Conflict, fault.Denied, fault.Malformed:
	default:
		return problem
	}
	composer, err := s.composerAgain(c, conv, form, problem)
	if err != nil {
		return err
	}
	switch status := statusOf(f); {
	case c.Htmx():
		return c.Render(status, views.ComposerBox(composer))
	case conv.ID == uuid.Nil:
		return s.showChatIndex(c, status, composer)
	default:
		return s.showChat(c, status, &composer)
	}
}

func (s *Site) chatStop(c *Ctx) error {
	id, err := c.chatID()
	if err != nil {
		return err
	}
	if err := s.Agent.StopTurn(c.R.Context(), c.Actor(), id); err != nil {
		return err
	}
	if c.Htmx() {
		c.W.WriteHeader(http.StatusNoContent)
		return nil
	}
	return c.Redirect(views.ConversationPath(c.Who.Workspace, id.String()))
}

func (s *Site) chatDelete(c *Ctx) error {
	id, err := c.chatID()
	if err != nil {
		return err
	}
	if err := s.Agent.DeleteConversation(c.R.Context(), c.Actor(), id); err != nil {
		return err
	}
	return c.Done(views.ChatPath(c.Who.Workspace), c.T("chat.deleted"))
}
