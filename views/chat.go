package views

import (
	"strconv"
	"time"

	"github.com/a-h/templ"

	"capstore/internal/i18n"
	"capstore/views/ui"
)

// ChatIndex lists a member's conversations.
type ChatIndex struct {
	Workspace     string
	Conversations []ChatLink
	Composer      Composer
}

// ChatLink is one conversation of a list.
type ChatLink struct {
	ID      string
	Title   string
	At      time.Time
	Current bool
}

// Chat is one conversation with what can be said next. Without an ID it is one
// that has not begun.
type Chat struct {
	Workspace string
	ID        string
	Title     string
	Items     []ChatItem
	// Older is the number before which earlier entries stand; 0 when all are
	// here. Past says that these are not the newest ones.
	Older    int64
	Past     bool
	LastSeq  int64
	State    ChatState
	Live     string // what a model has said so far in a step that runs
	Composer Composer
	Panel    bool       // drawn in the panel beside a page
	Links    []ChatLink // of the panel's switch
}

// ChatState is where the newest turn of a conversation stands.
type ChatState struct {
	Name  string // running, waiting; "" when nothing is worked on
	Since time.Time
	Model string // that it thinks with; "" for none
}

// Busy reports whether a message has to wait.
func (s ChatState) Busy() bool { return s.Name != "" }

// ChatItem is what one ledger entry shows in a conversation.
type ChatItem struct {
	Seq     int64
	At      time.Time
	Said    *ChatMessage
	Answer  *ChatAnswer
	Calls   []*ChatCall
	Trouble *ChatTrouble
	Notice  *ChatNotice
}

func (i ChatItem) id() string { return "chat-" + strconv.FormatInt(i.Seq, 10) }

// ChatMessage is what the member wrote.
type ChatMessage struct {
	Text string
	Refs []ChatRef
	// Prompt is what a model reads in its place: a command, expanded.
	Prompt string
	// Seen leads to what the turn that it began could see.
	Seen string
}

// ChatRef is something that a message is about.
type ChatRef struct {
	Ref   string // capability:source/id or skill:id
	Kind  string // of the capability
	Label string
	Href  string
}

// ChatAnswer is what answered: a model, or direct mode with what can be run.
type ChatAnswer struct {
	Text        string // Markdown
	Thinking    string
	Suggestions []ToolChoice
	Note        string // why it ends where it does
	Usage       string // model, tokens, cost and time of the turn
}

// ChatTrouble is an error or a stop of a turn.
type ChatTrouble struct {
	Tone   ui.Tone
	Text   string
	Action string
	Fields []string
}

// ChatNotice is one line about the conversation itself, with what it comes to.
type ChatNotice struct {
	Icon  ui.IconName
	Text  string
	Lines []string
}

// ChatChange is one change of a conversation that is being looked at: a new
// item, or a call that went on.
type ChatChange struct {
	Item *ChatItem
	Call *ChatCall
}

// ChatNews is what changed since the page was last told.
type ChatNews struct {
	Changes []ChatChange
	Live    *ChatLive
	// Announced are the tools whose arguments are being written; nil when they
	// are the same as before.
	Announced *[]string
	State     *Chat // for its status; nil when that is the same
}

// ChatLive is how the text that is being written changed: the blocks from From
// on, after which there are no more.
type ChatLive struct {
	Whole  bool // replaces all that was there
	From   int  // the first of Blocks
	Sent   int  // blocks that the page has
	Blocks []string
}

func liveID(i int) string { return "chat-live-" + strconv.Itoa(i) }

// streamAttrs keep the conversation current.
func (c Chat) streamAttrs() templ.Attributes {
	if c.ID == "" || c.Past {
		return nil
	}
	return templ.Attributes{"hx-sse:connect": ChatEventsPath(c.Workspace, c.ID, c.LastSeq), "hx-swap": "none"}
}

func (c Chat) rootAttrs() templ.Attributes {
	attrs := templ.Attributes{"data-chat": c.ID}
	if c.Panel {
		attrs["data-in-panel"] = true
	}
	return ui.Merge(attrs, c.streamAttrs())
}

// panelLink opens a conversation in the panel; without script it leads to its
// page.
func panelLink(href, panel string) templ.Attributes {
	return ui.Merge(templ.Attributes{"href": templ.URL(href)}, ui.Hx{Get: panel, Target: "#chat-panel-body"}.Attrs())
}

// EditInChat opens a conversation about something that the reader may change: in
// the panel where there is one, else on its page.
func EditInChat(l i18n.Locale, ws, ref, name string) ui.MenuItem {
	text := l.T("chat.edit_text", "name", name)
	return ui.MenuItem{
		Label: l.T("chat.edit"), Icon: ui.IconChat, Href: EditInChatPath(ws, ref, text),
		Attrs: templ.Attributes{"data-panel-link": EditInPanelPath(ws, ref, text)},
	}
}

// CapabilityRef names a capability as what a message is about.
func CapabilityRef(source, id string) string { return "capability:" + source + "/" + id }

// SkillRef names a skill of the workspace's library so.
func SkillRef(id string) string { return "skill:" + id }

// olderAttrs fetch what stands before, in place of the link.
func (c Chat) olderAttrs() templ.Attributes {
	return ui.Merge(templ.Attributes{"href": templ.URL(OlderChatPath(c.Workspace, c.ID, c.Older))},
		ui.Hx{Get: ChatOlderPath(c.Workspace, c.ID, c.Older), Target: "#chat-older", Swap: "outerHTML"}.Attrs())
}

// sinceAttrs let the script count the time.
func sinceAttrs(t time.Time) templ.Attributes {
	return templ.Attributes{"data-since": t.UTC().Format(time.RFC3339)}
}
