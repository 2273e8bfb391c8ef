package registry

// Current is the snapshot that the world stands at in this process, without
// looking at the database; nil when the world is not in use.
func (r *Registry) Current(key Key) *Snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w := r.worlds[key.Workspace][key.Subject]; w != nil {
		return w.current
	}
	return nil
}

// Sets is how many sets are known to be alive.
func (r *Registry) Sets() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.sets)
}
