package workspace

import "capstore/internal/capability"

// Hook is what the row's hook watches and what counts when it fails. One whose
// content this server cannot read at all watches every call and fails closed.
// It is for rows of hooks only.
func (r Row) Hook() *capability.HookSpec {
	if spec, ok := r.Spec.(*capability.HookSpec); ok {
		return spec
	}
	return &capability.HookSpec{Event: capability.EventBeforeTool}
}

// Denies reports whether the row is a hook that is wanted and cannot run, and
// so denies what it watches.
func (r Row) Denies() bool {
	return r.Kind == capability.KindHook && r.Wanted && !r.Enabled && r.ShadowedBy == "" && r.Hook().FailsClosed()
}
