package demo

import (
	"context"
	"fmt"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/secret"
	"capstore/internal/workspace"
)

// play lets the people do what leaves every state behind: an update waiting, a
// tool that needs setup, a switch of one's own, a skill with changes.
func play(ctx context.Context, p Parts, who cast) error {
	acmeAdmin, acmeMember := who.in(Acme, "admin@acme.demo"), who.in(Acme, "member@acme.demo")
	globexAdmin := who.in(Globex, "admin@globex.demo")
	s := &stage{ctx: ctx, p: p}

	s.secret(acmeAdmin, "INVOICE_SIGNING_KEY", "demo-signing-key-4f1a9c", false)
	s.secret(acmeMember, "DISPATCH_KEY", "demo-dispatch-key-77b2", true)
	s.secret(globexAdmin, "TRACKING_KEY", "demo-tracking-key-0c41", false)

	s.adopt(acmeAdmin, Globex, "invoice-check", "1.1.0", nil)
	s.adopt(acmeMember, Acme, "unit-convert", "1.0.0", nil)
	s.adopt(acmeMember, Acme, "workday", "1.1.0", nil)
	s.adopt(acmeMember, Acme, "volume-weight", "1.0.0", nil)
	s.adopt(acmeAdmin, Acme, "tracking", "1.1.0", nil)
	s.adopt(acmeMember, Acme, "route-note", "1.0.0", ptr(true))
	s.adopt(acmeAdmin, Acme, "handover", "1.0.0", nil)
	s.adopt(acmeAdmin, Acme, "secrets-in-text", "1.0.0", nil)

	s.adopt(globexAdmin, Acme, "volume-weight", "1.0.0", nil)
	s.adopt(globexAdmin, Acme, "tracking", "1.0.0", nil)
	s.adopt(globexAdmin, Acme, "table-to-csv", "1.0.0", nil)
	s.adopt(globexAdmin, Globex, "iban-check", "1.0.0", nil)
	s.adopt(globexAdmin, Globex, "payment-guard", "1.0.0", nil)

	s.take(acmeMember, Globex, "month-end-close", "1.0.0")
	s.take(globexAdmin, Acme, "customs-brief", "1.0.1")
	s.edit(acmeMember, "month-end-close", "\n\n## 5. Afterwards\nPut the report where everyone finds it: handbook, finance, months.\n")
	s.off(acmeMember, capability.CapabilityKey(Acme, "volume-weight"))
	return s.err
}

// stage runs one act after the other and keeps the first error. What an
// interrupted start did already is no error.
type stage struct {
	ctx context.Context
	p   Parts
	err error
}

func (s *stage) do(what string, act func() error) {
	if s.err != nil {
		return
	}
	if err := act(); err != nil && !fault.Is(err, fault.Conflict) {
		s.err = fmt.Errorf("demo: %s: %w", what, err)
	}
}

func (s *stage) secret(actor capability.Actor, name, value string, personal bool) {
	s.do("secret "+name, func() error {
		_, err := s.p.Secrets.Set(s.ctx, actor, secret.NewSecret{Name: name, Value: secret.NewValue(value), Personal: personal})
		return err
	})
}

func (s *stage) adopt(actor capability.Actor, source, id, version string, write *bool) {
	s.do("adopt "+source+"/"+id, func() error {
		v, err := s.p.Catalog.Version(s.ctx, actor, source, id, version)
		if err != nil {
			return err
		}
		_, err = s.p.Workspace.Adopt(s.ctx, actor, workspace.AdoptInput{
			Source: source, ID: id, Version: version, EnableWrite: write, ConsentDigest: v.Digest,
			SecretBindings: capability.BindByName(v.Content.Spec, nil),
		})
		return err
	})
}

func (s *stage) take(actor capability.Actor, source, id, version string) {
	s.do("copy "+source+"/"+id, func() error {
		_, err := s.p.Workspace.TakeFromStore(s.ctx, actor, workspace.TakeInput{Source: source, ID: id, Version: version})
		return err
	})
}

// edit adds to a skill's working copy, so that it has changes since its stamp.
func (s *stage) edit(actor capability.Actor, id, more string) {
	s.do("edit "+id, func() error {
		skill, err := s.p.Workspace.Skill(s.ctx, actor, id)
		if err != nil {
			return err
		}
		spec, ok := skill.Content.Spec.(*capability.SkillSpec)
		if !ok {
			return fmt.Errorf("%s is no skill", id)
		}
		if strings.HasSuffix(spec.Instructions, more) {
			return nil
		}
		spec.Instructions += more
		_, err = s.p.Workspace.UpdateSkill(s.ctx, actor, id, skill.Revision, workspace.SkillInput{
			Name: skill.Content.Name, Description: skill.Content.Description, Spec: spec,
		})
		return err
	})
}

func (s *stage) off(actor capability.Actor, key capability.Key) {
	s.do("switch off "+string(key), func() error {
		off := false
		_, err := s.p.Workspace.SetSwitch(s.ctx, actor, key, &off)
		return err
	})
}

func ptr[T any](v T) *T { return &v }
