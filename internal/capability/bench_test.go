package capability_test

import (
	"fmt"
	"strings"
	"testing"

	"capstore/internal/capability"
)

func BenchmarkCanConsume(b *testing.B) {
	access := capability.Access{Source: "acme", Reach: capability.ReachSubset, SharedWith: []string{"a1", "b1", "c1", "d1"}, CreatedBy: "ann"}
	viewer := capability.Viewer{Workspace: "d1", Subject: "bob"}
	b.ReportAllocs()
	for b.Loop() {
		if !capability.CanConsume(access, viewer) {
			b.Fatal("not visible")
		}
	}
}

func BenchmarkSelectForMember(b *testing.B) {
	candidates := make([]capability.Candidate, 1000)
	overlay := capability.Overlay{}
	for i := range candidates {
		key := capability.CapabilityKey("acme", fmt.Sprintf("tool-%d", i))
		candidates[i] = capability.Candidate{Key: key, Channel: capability.ChannelTool, Name: fmt.Sprintf("Tool %d", i%900), Origin: capability.OriginAdopted, Baseline: true}
		if i%5 == 0 {
			overlay[key] = i%2 == 0
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if rows := capability.SelectForMember(candidates, overlay); len(rows) != 1000 {
			b.Fatal(len(rows))
		}
	}
}

func BenchmarkDigest(b *testing.B) {
	for _, kind := range capability.Kinds {
		b.Run(string(kind), func(b *testing.B) {
			c := sample(b, kind)
			b.ReportAllocs()
			for b.Loop() {
				if c.Digest() == "" {
					b.Fatal("no digest")
				}
			}
		})
	}
}

func BenchmarkMCPToolName(b *testing.B) {
	for name, tool := range map[string]string{"fits": "send_message", "altered": "files.read"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				capability.MCPToolName("mail-prod", tool)
			}
		})
	}
}

func BenchmarkDiff(b *testing.B) {
	text := func(seed, n int) string {
		var s strings.Builder
		x := uint32(seed)
		for s.Len() < n {
			x = x*1664525 + 1013904223
			fmt.Fprintf(&s, "%d\n", x>>20)
		}
		return s.String()
	}
	long := text(1, 1<<20)
	for name, pair := range map[string][2]string{
		"one line of a mebibyte": {long, long[:1<<19] + "x" + long[1<<19:]},
		"two mebibytes apart":    {long, text(2, 1<<20)},
	} {
		b.Run(name, func(b *testing.B) {
			base := capability.Content{Name: "n", Description: "d", Spec: &capability.SkillSpec{Instructions: pair[0]}}
			next := capability.Content{Name: "n", Description: "d", Spec: &capability.SkillSpec{Instructions: pair[1]}}
			for b.Loop() {
				capability.Diff(base, next)
			}
		})
	}
}
