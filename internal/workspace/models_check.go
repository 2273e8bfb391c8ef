package workspace

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"capstore/internal/capability"
	"capstore/internal/fault"
)

const (
	maxModels        = 100
	maxUnderlying    = 200
	maxContextTokens = 100_000_000
)

var (
	modelName = regexp.MustCompile(`^[a-z0-9][a-z0-9._:-]{0,63}$`)
	decimal   = regexp.MustCompile(`^[0-9]{1,6}(\.[0-9]{1,6})?$`)
)

// ModelInput is what registers or replaces a model.
type ModelInput struct {
	Name          string // "" makes one from Underlying; an update keeps the model's
	Provider      Provider
	BaseURL       string // "" is the provider's own service
	Underlying    string
	Secret        string
	Price         Price
	ContextTokens int
}

// check fills in what was left out and returns every fault in the order of the
// form, with the paths of the JSON one.
func (s *Service) check(ctx context.Context, in ModelInput) (ModelInput, error) {
	in.Name, in.Underlying = strings.TrimSpace(in.Name), strings.TrimSpace(in.Underlying)
	if in.Name == "" && in.Underlying != "" {
		in.Name = capability.IDFromName(in.Underlying)
	}
	in.BaseURL = strings.TrimRight(strings.TrimSpace(in.BaseURL), "/")
	if in.BaseURL == "" {
		in.BaseURL = in.Provider.BaseURL()
	}
	var faults []fault.Field
	add := func(path, code, format string, args ...any) {
		faults = append(faults, fault.Field{Path: path, Code: code, Message: fmt.Sprintf(format, args...)})
	}
	switch {
	case in.Underlying == "":
		add("/model", "required", "Say which model it is, as its provider calls it.")
	case len(in.Underlying) > maxUnderlying || strings.ContainsFunc(in.Underlying, func(r rune) bool { return !unicode.IsGraphic(r) }):
		add("/model", "bad_model", "The provider's name of a model is plain text of at most %d characters.", maxUnderlying)
	}
	if in.Name != "" && !modelName.MatchString(in.Name) || in.Name == "new" { // which an address takes
		add("/name", "bad_model_name", "A name is 1 to 64 lower-case letters, digits, dots, colons, underscores and hyphens, beginning with a letter or digit.")
	}
	if f := s.badBaseURL(ctx, in.BaseURL); f != nil {
		add("/baseUrl", f.Code, "%s", strings.TrimSpace(f.Message+" "+f.Action))
	}
	if !slices.Contains(Providers, in.Provider) {
		add("/provider", "not_allowed", "The provider is anthropic or openai.")
	}
	if in.Secret != "" && !capability.ValidSecretName(in.Secret) {
		add("/secret", "bad_secret_name", "A secret's name is capital letters, digits and underscores.")
	}
	for _, price := range [][2]string{{"/priceInput", in.Price.Input}, {"/priceOutput", in.Price.Output}, {"/priceCached", in.Price.Cached}} {
		if price[1] != "" && !decimal.MatchString(price[1]) {
			add(price[0], "bad_price", "A price is a number such as 0.25: dollars for a million tokens, without a sign.")
		}
	}
	if in.ContextTokens < 0 || in.ContextTokens > maxContextTokens {
		add("/contextTokens", "out_of_range", "The context is a number of tokens, or left out.")
	}
	return in, fault.Fields(faults)
}

// badBaseURL says why an address cannot be used, nil when it can: https, or
// http to a host that the operator let through.
func (s *Service) badBaseURL(ctx context.Context, raw string) *fault.Fault {
	if u, err := url.Parse(raw); err == nil && (u.RawQuery != "" || u.Fragment != "") {
		return fault.New(fault.Invalid, "bad_url", "The address of a service has no part after ? or #.")
	}
	if _, err := s.guard.ParseURL(ctx, raw, true); err != nil {
		return fault.From(err)
	}
	if len(raw) > 2048 {
		return fault.New(fault.Invalid, "too_long", "An address has at most 2048 characters.")
	}
	return nil
}

// CheckModel returns every fault that registering the model would find by
// itself, and changes nothing. It takes whoever may register.
func (s *Service) CheckModel(ctx context.Context, actor capability.Actor, in ModelInput) error {
	if err := mayRegister(actor); err != nil {
		return err
	}
	_, err := s.check(ctx, in)
	return err
}
