package sandbox

import (
	"context"
	"fmt"
	"strings"

	"capstore/internal/fault"
)

// trivial prints 1 as JSON in each language.
var trivial = map[Language]string{
	Python: "print(1)", Node: "console.log(1)", Bash: "echo 1",
}

// probe runs a trivial program in each language and completes s.
func probe(ctx context.Context, d Driver, s Status) Status {
	s.Languages = map[Language]string{}
	var reasons []string
	for _, l := range Languages() {
		reason := ""
		r, err := d.Run(ctx, Run{Language: l, Code: trivial[l]})
		switch {
		case err != nil:
			reason = fault.From(err).Message
		case r.Failure != nil:
			reason = r.Failure.Message
			if first, _, _ := strings.Cut(r.Stderr, "\n"); first != "" {
				reason += " (" + first + ")"
			}
		default:
			s.Ready = true
		}
		s.Languages[l] = reason
		if reason != "" && !strings.Contains(strings.Join(reasons, " "), reason) {
			reasons = append(reasons, reason)
		}
	}
	if s.Ready {
		s.Action = ""
	} else {
		s.Reason = strings.Join(reasons, " ")
	}
	return s
}

func egressUnsupported(hosts []string) error {
	return fault.New(fault.Unavailable, CodeEgressUnsupported,
		"This program asks for the network (%s), and code has none on this server.", strings.Join(hosts, ", ")).
		Do("Adopt it without its hosts, or ask its author for a version that needs none.").With("hosts", hosts)
}

// mustFind is findInterpreter with a fault for what is missing.
func mustFind(l Language, who account, path string) (string, error) {
	file, err := findInterpreter(l, who, path)
	if err != nil {
		return "", unavailable(err.Error(),
			fmt.Sprintf("Whoever runs this server installs %s for all users.", interpreters[l].install)).Because(err)
	}
	return file, nil
}
