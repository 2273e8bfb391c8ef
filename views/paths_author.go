package views

// ManagePartPath takes the POST that changes one part of what its publisher
// decides: reach, tags, maintainers, deprecation, version or delete.
func ManagePartPath(ws, source, id, part string) string {
	return join(ws, "store", source, id, "manage", part)
}
