package secret_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"capstore/internal/fault"
	"capstore/internal/secret"
)

const canary = "canary-7f3a91"

func TestValueNeverShows(t *testing.T) {
	t.Parallel()
	v := secret.NewValue(canary)
	type inner struct{ V secret.Value }
	type hidden struct {
		v  secret.Value
		vs []secret.Value
		m  map[string]secret.Value
		p  *secret.Value
	}
	h := hidden{v, []secret.Value{v}, map[string]secret.Value{"k": v}, &v}
	var log bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&log, nil))
	logger.Info("plain", "v", v, "p", &v, "inner", inner{v}, "hidden", h)
	slog.New(slog.NewTextHandler(&log, nil)).Info("plain", "v", v, "inner", inner{v}, "hidden", h)
	encoded, err := json.Marshal(map[string]any{"v": v, "p": &v, "inner": inner{v}, "list": []secret.Value{v}})
	if err != nil {
		t.Fatal(err)
	}
	shown := []string{log.String(), string(encoded), fmt.Errorf("with %v: %w", v, errors.New("x")).Error(), fmt.Sprint(v), v.String()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T", "%t"} {
		for _, x := range []any{v, &v, inner{v}, &inner{v}, h, &h, []any{v}, map[string]any{"v": v}} {
			shown = append(shown, fmt.Sprintf(verb, x))
		}
	}
	hexed := fmt.Sprintf("%x", canary)
	for _, s := range shown {
		if strings.Contains(s, canary) || strings.Contains(strings.ToLower(s), hexed) {
			t.Errorf("shown as %s", s)
		}
	}
	if v.Reveal() != canary || (secret.Value{}).Reveal() != "" {
		t.Error("Reveal does not reveal")
	}
}

func TestHeaderRefusesWhatItCannotCarry(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		value string
		ok    bool
	}{
		"plain":      {"ghp_abcDEF 123\t~", true},
		"injection":  {"acme\r\nX-Admin: 1", false},
		"lone CR":    {"acme\rx", false},
		"NUL":        {"a\x00b", false},
		"delete":     {"a\x7fb", false},
		"not ASCII":  {"clé-secrète", false},
		"bad UTF-8":  {"a\xffb", false},
		"empty":      {"", false},
		"multi-line": {"-----BEGIN\nabc\n", false},
	} {
		got, err := secret.NewValue(c.value).Header()
		if c.ok && (err != nil || got != c.value) || !c.ok && !fault.HasCode(err, "secret_not_for_headers") {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
		if err != nil && c.value != "" && strings.Contains(err.Error(), c.value) {
			t.Errorf("%s: the fault tells the secret", name)
		}
	}
}
