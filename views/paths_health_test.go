package views

import "testing"

func TestHealthPaths(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		HealthPath("acme", ""):               "/acme/settings/agent/health",
		HealthPath("acme", "a b"):            "/acme/settings/agent/health?member=a+b",
		SeenPath("acme", "t"):                "/acme/settings/agent/health/turns/t",
		ChatTurnPath("acme", "c", "../evil"): "/acme/chat/c/turns/..%2Fevil",
		HealthFilter{Member: "m", Standing: "off", Kind: "mcp"}.path("acme"): "/acme/settings/agent/health?member=m&standing=off&kind=mcp",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
