package views

// ModelsPath lists what the workspace's agents may think with.
func ModelsPath(ws string) string { return SettingsPath(ws, "models") }

// NewModelPath is where a model is registered, as the preset begins it; ""
// asks which one.
func NewModelPath(ws, preset string) string {
	return withQuery(join(ws, "settings", "models", "new"), "preset", preset)
}

// ModelPath is one registered model.
func ModelPath(ws, name string) string { return join(ws, "settings", "models", name) }

// EditModelPath is where a model is changed.
func EditModelPath(ws, name string) string { return join(ws, "settings", "models", name, "edit") }

// TestModelPath takes the POST that asks a model's provider for a sign of life.
func TestModelPath(ws, name string) string { return join(ws, "settings", "models", name, "test") }

// RemoveModelPath asks before a model is removed; the same takes the POST.
func RemoveModelPath(ws, name string) string { return join(ws, "settings", "models", name, "remove") }

// DefaultModelPath takes the POST of what the workspace thinks with.
func DefaultModelPath(ws string) string { return join(ws, "settings", "agent", "model") }

// AccountModelsPath is what the member's agents think with, by workspace. It
// takes the POST of workspace and model.
func AccountModelsPath() string { return "/account/models" }
