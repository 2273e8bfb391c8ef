package ui

import "github.com/a-h/templ"

// Tone is the meaning of a colour. A word always stands beside it.
type Tone string

// The tones.
const (
	Neutral Tone = "neutral"
	Accent  Tone = "accent"
	Info    Tone = "info"
	Success Tone = "success"
	Warning Tone = "warning"
	Danger  Tone = "danger"
)

// BadgeArgs describes a short mark.
type BadgeArgs struct {
	Label string
	Tone  Tone // Neutral unless told
	Icon  IconName
	Title string // longer explanation, also read to screen readers
}

func (a BadgeArgs) tone() string {
	if a.Tone == "" {
		return string(Neutral)
	}
	return string(a.Tone)
}

// toneIcon is the shape that goes with a tone in callouts and toasts.
func toneIcon(t Tone) IconName {
	switch t {
	case Success:
		return IconSuccess
	case Warning:
		return IconWarning
	case Danger:
		return IconDanger
	}
	return IconInfo
}

// CalloutArgs describes a framed notice. The children follow the text.
type CalloutArgs struct {
	Tone  Tone // Info unless told
	Title string
	Text  string
	// Live makes a screen reader read it when it appears.
	Live bool
}

func (a CalloutArgs) attrs() templ.Attributes {
	tone := a.Tone
	if tone == "" {
		tone = Info
	}
	attrs := templ.Attributes{"class": "callout", "data-tone": string(tone)}
	if a.Live {
		attrs["role"] = "status"
		if tone == Danger {
			attrs["role"] = "alert"
		}
	}
	return attrs
}

// toneText is the text colour of a tone.
func toneText(t Tone) string {
	switch t {
	case Success:
		return "text-success"
	case Warning:
		return "text-warning"
	case Danger:
		return "text-destructive"
	}
	return "text-primary"
}
