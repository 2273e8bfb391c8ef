package views

// What a list for other programs is of.
const (
	OfPublished = "published" // what the workspace publishes
	OfCarried   = "carried"   // what the member's agent carries
)

// ElsewherePath says how other programs use what the workspace has.
func ElsewherePath(ws string) string { return join(ws, "settings", "agent", "elsewhere") }

// RegistryPath is the read API of the MCP registry, without its version.
func RegistryPath(ws string) string { return join("registry", ws) }

// MarketplacePath is the marketplace of Claude Code plugins.
func MarketplacePath(ws, of string) string {
	return withQuery(join("registry", ws, "marketplace.json"), "of", of)
}

// MarketplaceFolderPath is the same as a folder in an archive.
func MarketplaceFolderPath(ws, of string) string {
	return withQuery(join("registry", ws, "marketplace.zip"), "of", of)
}

// PluginArchivePath is the archive of one version as a plugin.
func PluginArchivePath(ws, source, id, version string) string {
	return join("registry", ws, "plugins", source, id, version+".zip")
}

// SkillIndexPath lists skills as sites offer theirs.
func SkillIndexPath(ws, of string) string { return withQuery(join("registry", ws, "skills"), "of", of) }

// SkillArchivePath is the archive of one version of a skill.
func SkillArchivePath(ws, source, id, version string) string {
	return join("registry", ws, "skills", source, id, version+".zip")
}
