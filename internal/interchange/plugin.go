package interchange

// plugins are the folders of Claude Code plugins, with what reads them.
func (t *tree) plugins(o Options) map[string]rootReader {
	return map[string]rootReader{}
}
