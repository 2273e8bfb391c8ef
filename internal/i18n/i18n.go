// Package i18n holds every text that people read, in English and Korean, and
// formats numbers and times the way each is read. A page finds its locale in
// the context, so that templates only name keys.
package i18n

import (
	"context"
	"log/slog"
	"testing"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// Locale is one language with its catalogue. The zero value is not useful:
// take one from Match, English, Korean or From.
type Locale struct {
	tag     language.Tag
	texts   map[string]string
	printer *message.Printer
}

var (
	// English is the language of a reader about whom nothing is known.
	English = newLocale(language.English, "en")
	// Korean is the second language.
	Korean = newLocale(language.Korean, "ko")

	locales = []Locale{English, Korean}
	matcher = language.NewMatcher([]language.Tag{language.English, language.Korean})
)

func newLocale(tag language.Tag, folder string) Locale {
	return Locale{tag: tag, texts: mustLoad(folder), printer: message.NewPrinter(tag)}
}

// Match picks the language: the account's setting ("en", "ko") when there is
// one, else the best of an Accept-Language header, else English.
func Match(setting, acceptLanguage string) Locale {
	_, at := language.MatchStrings(matcher, setting, acceptLanguage)
	return locales[at]
}

// Lang returns the value for the lang attribute: "en" or "ko".
func (l Locale) Lang() string { return l.tag.String() }

// Languages lists what a reader may choose: code and own name, in a fixed order.
func Languages() [][2]string {
	return [][2]string{{"en", "English"}, {"ko", "한국어"}}
}

// Has reports whether the catalogue holds the key.
func (l Locale) Has(key string) bool {
	_, ok := l.texts[key]
	return ok
}

// T returns the text of a key with its {name} places filled from pairs of name
// and value. A missing key panics under test; in production it is logged and
// the key itself is shown.
func (l Locale) T(key string, pairs ...any) string {
	text, ok := l.texts[key]
	if !ok {
		missing(key)
		return key
	}
	return l.fill(text, l.params(pairs))
}

// Or returns the text of the key filled from params, or the fallback when the
// catalogue lacks the key or params lack a place of it.
func (l Locale) Or(key, fallback string, params map[string]any) string {
	text, ok := l.texts[key]
	if !ok {
		return fallback
	}
	for _, name := range places(text) {
		if _, ok := params[name]; !ok {
			return fallback
		}
	}
	return l.fill(text, params)
}

func missing(key string) {
	if testing.Testing() {
		panic("i18n: no text for key " + key)
	}
	slog.Error("text missing from the catalogues", "key", key)
}

type contextKey struct{}

// With returns a context that carries the reader's locale.
func With(ctx context.Context, l Locale) context.Context {
	return context.WithValue(ctx, contextKey{}, l)
}

// From returns the locale of the context, or English.
func From(ctx context.Context) Locale {
	if l, ok := ctx.Value(contextKey{}).(Locale); ok {
		return l
	}
	return English
}

// T is Locale.T for the locale of the context.
func T(ctx context.Context, key string, pairs ...any) string { return From(ctx).T(key, pairs...) }

// N is Locale.N for the locale of the context.
func N(ctx context.Context, key string, n int, pairs ...any) string {
	return From(ctx).N(key, n, pairs...)
}
