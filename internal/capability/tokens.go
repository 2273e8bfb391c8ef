package capability

import (
	"unicode"
	"unicode/utf8"
)

// TokenEstimate is about how many tokens a model reads the text as. No
// tokenizer is asked: models differ, and a person who compares two versions
// only wants the size of the change. Latin text counts four bytes to the
// token, Chinese, Japanese and Korean a token to the character, anything else
// two characters to the token. Zero for no text, else at least one.
func TokenEstimate(text string) int {
	quarters := 0
	for _, r := range text {
		quarters += quarterTokens(r)
	}
	return (quarters + 3) / 4
}

func quarterTokens(r rune) int {
	switch {
	case r < utf8.RuneSelf:
		return 1
	case unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana), r > 0xFFFF:
		return 4
	}
	return 2
}

// ModelText is what a model reads of the content by itself: what it is offered
// under and what it is told when it uses it. Files, code and whatever a server
// says about its tools are not in it; a hook has none.
func (c Content) ModelText() string {
	lead := c.Name + "\n" + c.Description + "\n"
	switch s := c.Spec.(type) {
	case *MCPSpec:
		return lead
	case *CodeSpec:
		return lead + string(s.ParametersSchema)
	case *SkillSpec:
		return lead + s.Instructions
	case *CommandSpec:
		return s.Template
	case *EnvironmentSpec:
		return s.Instructions
	case *DelegationSpec:
		return s.Instructions
	}
	return ""
}
