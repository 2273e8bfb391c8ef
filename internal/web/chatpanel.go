package web

import (
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"

	"capstore/internal/agent"
	"capstore/internal/fault"
	"capstore/views"
)

// chatAtCookie keeps, per workspace, which conversation the panel shows.
const chatAtCookie = "chat_at"

// panelLinks is how many conversations the panel's switch leads to.
const panelLinks = 8

// chatPanel is the content of the panel beside a page: the conversation that
// the address asks for, else the one that was looked at last.
func (s *Site) chatPanel(c *Ctx) error {
	query := c.R.URL.Query()
	wanted := query.Get("id")
	if wanted == "" && query.Get("new") == "" {
		wanted = c.cookie(chatAtCookie)
	}
	id, err := uuid.Parse(wanted)
	if err != nil {
		return s.showNewPanel(c)
	}
	if _, err = s.Agent.Conversation(c.R.Context(), c.Actor(), id); fault.Is(err, fault.NotFound) {
		return s.showNewPanel(c)
	} else if err != nil {
		return err
	}
	return s.showPanel(c, id)
}

func (s *Site) showPanel(c *Ctx, id uuid.UUID) error {
	chat, err := s.chat(c, id, nil)
	if err != nil {
		return err
	}
	return s.renderPanel(c, chat)
}

func (s *Site) showNewPanel(c *Ctx) error {
	chat := views.Chat{Workspace: c.Who.Workspace, Title: c.T("chat.untitled")}
	var err error
	if chat.Composer, err = s.composer(c, agent.Conversation{}, views.Form{}); err != nil {
		return err
	}
	return s.renderPanel(c, chat)
}

func (s *Site) renderPanel(c *Ctx, chat views.Chat) error {
	var err error
	if chat.Links, err = s.chatLinks(c, chat.ID, panelLinks); err != nil {
		return err
	}
	c.rememberChat(chat.ID)
	chat.Panel, chat.Composer.Panel = true, true
	return c.Render(http.StatusOK, views.ChatPanel(chat))
}

// rememberChat makes the conversation the panel's; "" is one that has not begun.
func (c *Ctx) rememberChat(id string) {
	if c.cookie(chatAtCookie) == id {
		return
	}
	http.SetCookie(c.W, &http.Cookie{
		Name: chatAtCookie, Value: id, Path: views.WorkspacePath(c.Who.Workspace), MaxAge: int((365 * 24 * time.Hour).Seconds()),
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: c.R.TLS != nil,
	})
}

// inPanel reports whether the request comes from the panel, or is for it.
func (c *Ctx) inPanel() bool {
	return c.R.URL.Query().Get("in") == "panel" || c.R.URL.Path == views.ChatPanelPath(c.Who.Workspace)
}

// before is the entry that the address asks to look before; 0 for the newest.
func (c *Ctx) before() int64 {
	n, err := strconv.ParseInt(c.R.URL.Query().Get("before"), 10, 64)
	if err != nil || n < 1 {
		return 0
	}
	return n
}
