package views

import "testing"

func TestModelPaths(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		ModelsPath("acme"):               "/acme/settings/models",
		NewModelPath("acme", ""):         "/acme/settings/models/new",
		NewModelPath("acme", "ollama"):   "/acme/settings/models/new?preset=ollama",
		ModelPath("acme", "qwen3:8b"):    "/acme/settings/models/qwen3:8b",
		ModelPath("acme", "a/b"):         "/acme/settings/models/a%2Fb",
		EditModelPath("acme", "house"):   "/acme/settings/models/house/edit",
		TestModelPath("acme", "house"):   "/acme/settings/models/house/test",
		RemoveModelPath("acme", "house"): "/acme/settings/models/house/remove",
		DefaultModelPath("acme"):         "/acme/settings/agent/model",
		AccountModelsPath():              "/account/models",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
