package web

import (
	"context"
	"net/http"
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
		{Method: "GET", Pattern: "/{workspace}/chat/{id}", Access: Member, handler: s.chatShow},
		{Method: "POST", Pattern: "/{workspace}/chat/{id}", Access: Member, handler: s.chatSay},
		{Method: "GET", Pattern: "/{workspace}/chat/{id}/body", Access: Member, handler: s.chatBody},
		{Method: "POST", Pattern: "/{workspace}/chat/{id}/stop", Access: Member, handler: s.chatStop},
		{Method: "POST", Pattern: "/{workspace}/chat/{id}/delete", Access: Member, handler: s.chatDelete},
		{Method: "GET", Pattern: "/{workspace}/chat/{id}/artifacts/{artifact}", Access: Member, handler: s.chatArtifact},
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
	composer, err := s.composer(c, "", views.Form{})
	if err != nil {
		return err
	}
	return s.showChatIndex(c, http.StatusOK, composer)
}

func (s *Site) showChatIndex(c *Ctx, status int, composer views.Composer) error {
	list, err := s.Agent.Conversations(c.R.Context(), c.Actor())
	if err != nil {
		return err
	}
	index := views.ChatIndex{Workspace: c.Who.Workspace, Composer: composer}
	for _, conv := range list {
		index.Conversations = append(index.Conversations, views.ChatLink{ID: conv.ID.String(), Title: c.chatTitle(conv), At: conv.UpdatedAt})
	}
	return c.Render(status, views.ChatIndexPage(c.Page(c.T("chat.title"), views.NavChat), index))
}

func (c *Ctx) chatTitle(conv agent.Conversation) string {
	if conv.Title == "" {
		return c.T("chat.untitled")
	}
	return conv.Title
}

// chatStart says the first message of a new conversation.
func (s *Site) chatStart(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	ask, composer, err := s.readAsk(c, "", form)
	if err != nil || composer != nil {
		if err != nil {
			return err
		}
		return s.showChatIndex(c, http.StatusUnprocessableEntity, *composer)
	}
	conv, err := s.Agent.NewConversation(c.R.Context(), c.Actor())
	if err != nil {
		return err
	}
	if err := s.say(c, conv.ID, ask); err != nil {
		// Nothing was said, so nothing of it stays.
		if gone := s.Agent.DeleteConversation(c.R.Context(), c.Actor(), conv.ID); gone != nil {
			return gone
		}
		failed, ferr := s.composerAgain(c, "", form, err)
		if ferr != nil {
			return ferr
		}
		return s.showChatIndex(c, http.StatusUnprocessableEntity, failed)
	}
	return c.Redirect(views.ConversationPath(c.Who.Workspace, conv.ID.String()))
}

// say begins a turn and waits for a quick end of it.
func (s *Site) say(c *Ctx, conversation uuid.UUID, ask agent.Ask) error {
	_, done, err := s.Agent.Begin(c.R.Context(), c.Actor(), conversation, ask)
	if err != nil {
		return err
	}
	wait, cancel := context.WithTimeout(c.R.Context(), quickly)
	defer cancel()
	select {
	case <-done:
	case <-wait.Done():
	}
	return nil
}

func (s *Site) chatShow(c *Ctx) error {
	return s.showChat(c, http.StatusOK, nil)
}

// showChat shows a conversation with its composer, or with the one given.
func (s *Site) showChat(c *Ctx, status int, composer *views.Composer) error {
	chat, err := s.chat(c, composer)
	if err != nil {
		return err
	}
	page := c.Page(chat.Title, views.NavChat)
	page.ChatPath = "" // the conversation is the page
	page.Crumbs = []ui.Crumb{{Label: c.T("chat.title"), Href: views.ChatPath(c.Who.Workspace)}, {Label: chat.Title}}
	return c.Show(status, views.ChatPage(page, chat), views.ChatBody(chat))
}

func (s *Site) chat(c *Ctx, composer *views.Composer) (views.Chat, error) {
	id, err := c.chatID()
	if err != nil {
		return views.Chat{}, err
	}
	conv, err := s.Agent.Conversation(c.R.Context(), c.Actor(), id)
	if err != nil {
		return views.Chat{}, err
	}
	entries, err := s.Agent.Ledger(c.R.Context(), c.Actor(), id, 0)
	if err != nil {
		return views.Chat{}, err
	}
	chat := views.Chat{Workspace: c.Who.Workspace, ID: id.String(), Title: c.chatTitle(conv), LastSeq: conv.LastSeq}
	chat.Items, chat.Running = c.chatItems(chat, entries)
	chat.Running = chat.Running || s.Agent.Running(id)
	if composer == nil {
		made, err := s.composer(c, chat.ID, views.Form{})
		if err != nil {
			return views.Chat{}, err
		}
		composer = &made
	}
	chat.Composer = *composer
	return chat, nil
}

func (s *Site) chatBody(c *Ctx) error {
	chat, err := s.chat(c, nil)
	if err != nil {
		return err
	}
	return c.Render(http.StatusOK, views.ChatBody(chat))
}

func (s *Site) chatSay(c *Ctx) error {
	id, err := c.chatID()
	if err != nil {
		return err
	}
	if _, err := s.Agent.Conversation(c.R.Context(), c.Actor(), id); err != nil {
		return err
	}
	form, err := c.Form()
	if err != nil {
		return err
	}
	ask, composer, err := s.readAsk(c, id.String(), form)
	if err != nil {
		return err
	}
	if composer == nil {
		err := s.say(c, id, ask)
		if err == nil {
			return c.Redirect(views.ConversationPath(c.Who.Workspace, id.String()))
		}
		failed, ferr := s.composerAgain(c, id.String(), form, err)
		if ferr != nil {
			return ferr
		}
		composer = &failed
	}
	return s.showChat(c, http.StatusUnprocessableEntity, composer)
}

func (s *Site) chatStop(c *Ctx) error {
	id, err := c.chatID()
	if err != nil {
		return err
	}
	if err := s.Agent.StopTurn(c.R.Context(), c.Actor(), id); err != nil {
		return err
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

// chatArtifact hands a stored result over as a file, never to be shown in
// place: it is somebody else's content.
func (s *Site) chatArtifact(c *Ctx) error {
	id, err := c.chatID()
	if err != nil {
		return err
	}
	artifact, err := uuid.Parse(c.R.PathValue("artifact"))
	if err != nil {
		return fault.Missing()
	}
	_, content, err := s.Agent.ReadArtifact(c.R.Context(), c.Actor(), id, artifact)
	if err != nil {
		return err
	}
	h := c.W.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", `attachment; filename="result-`+artifact.String()+`.json"`)
	h.Set("Cache-Control", "private, no-store")
	c.W.WriteHeader(http.StatusOK)
	_, _ = c.W.Write(content)
	return nil
}

// chatPanel is the content of the panel beside a page: a composer, and the
// newest conversations.
func (s *Site) chatPanel(c *Ctx) error {
	composer, err := s.composer(c, "", views.Form{})
	if err != nil {
		return err
	}
	list, err := s.Agent.Conversations(c.R.Context(), c.Actor())
	if err != nil {
		return err
	}
	index := views.ChatIndex{Workspace: c.Who.Workspace, Composer: composer}
	for _, conv := range list[:min(len(list), 8)] {
		index.Conversations = append(index.Conversations, views.ChatLink{ID: conv.ID.String(), Title: c.chatTitle(conv), At: conv.UpdatedAt})
	}
	return c.Render(http.StatusOK, views.ChatPanel(index))
}
