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

// NewDraftPath goes on with a draft of a new capability.
func NewDraftPath(ws, kind, draft string) string {
	return withQuery(join(ws, "store", "new"), "kind", kind, "draft", draft)
}

// EditDraftPath goes on with a draft of a capability's next version.
func EditDraftPath(ws, source, id, draft string) string {
	return withQuery(EditCapabilityPath(ws, source, id), "draft", draft)
}

// DraftsPath lists the reader's drafts, and takes the POST that discards one.
func DraftsPath(ws string) string { return join(ws, "store", "new", "drafts") }

// DiscardDraftPath asks whether the draft is to be discarded.
func DiscardDraftPath(ws, draft string) string { return withQuery(DraftsPath(ws), "discard", draft) }

// StopTryPath takes the POST that ends a try that is watched.
func StopTryPath(ws, try string) string {
	return withQuery(join(ws, "store", "new", "stop"), "try", try)
}
