package views

// ManagePartPath takes the POST that changes one part of what its publisher
// decides: reach, tags, maintainers, deprecation, version or delete.
func ManagePartPath(ws, source, id, part string) string {
	return join(ws, "store", source, id, "manage", part)
}

// RetirePath says what an act on a version (withdraw, revive, block, unblock)
// means before it is done.
func RetirePath(ws, source, id, op, version string) string {
	return withQuery(ManagePartPath(ws, source, id, "version"), "op", op, "version", version)
}
