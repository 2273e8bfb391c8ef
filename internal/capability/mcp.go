package capability

import (
	"net/url"
	"strings"

	"capstore/internal/fault"
)

// Carrier says how a declared secret reaches its server: in a header of the
// request, Prefix and a space before the value where there is one, or in a
// variable of the container's environment. Exactly one of Header and Variable
// is set.
type Carrier struct {
	Secret   string // the declared name
	Header   string
	Prefix   string
	Variable string
}

// Value spells a secret as the header carries it; in a variable it stands bare.
func (c Carrier) Value(secret string) string {
	if c.Prefix == "" {
		return secret
	}
	return c.Prefix + " " + secret
}

// Carriers lists how each declared secret travels, in the order declared. Over
// HTTP the one without a header of its own goes to Authorization, as Bearer
// unless told; another header carries the bare value unless told.
func (s *MCPSpec) Carriers() []Carrier {
	out := make([]Carrier, 0, len(s.RequiredSecrets))
	for _, secret := range s.RequiredSecrets {
		c := Carrier{Secret: secret.Name, Header: secret.Header, Prefix: secret.Scheme}
		switch {
		case s.URL == "":
			c = Carrier{Secret: secret.Name, Variable: secret.Variable()}
		case secret.Header == "":
			c.Header = "Authorization"
		}
		if strings.EqualFold(c.Header, "Authorization") && c.Prefix == "" {
			c.Prefix = "Bearer"
		}
		out = append(out, c)
	}
	return out
}

// SettingValues is every setting with the adopter's value, else its default;
// what has neither is left out.
func (s *MCPSpec) SettingValues(values map[string]string) map[string]string {
	out := map[string]string{}
	for _, setting := range s.Settings {
		if v := values[setting.Name]; v != "" {
			out[setting.Name] = v
		} else if setting.Default != "" {
			out[setting.Name] = setting.Default
		}
	}
	return out
}

// Address is the server's URL with its settings filled in. A value cannot add
// to the address more than its place holds: everything that has a meaning in
// addresses is escaped, and the whole is held to the rules of Validate once
// more. The error is an Invalid fault at /settings.
func (s *MCPSpec) Address(values map[string]string, r Rules) (string, error) {
	filled := s.SettingValues(values)
	var f faults
	address := placeholder.ReplaceAllStringFunc(s.URL, func(m string) string {
		name := m[1 : len(m)-1]
		if filled[name] == "" {
			f.add("/settings/"+name, "required", "The address needs the setting %s.", cut(name, 64))
		}
		return strings.ReplaceAll(url.QueryEscape(filled[name]), "+", "%20")
	})
	if len(f) == 0 {
		f.serverURL("/settings", address, nil, r)
	}
	if err := fault.Fields(f); err != nil {
		return "", err
	}
	return address, nil
}
