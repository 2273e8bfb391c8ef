package views

// Tabs of the page of approvals.
const (
	TabApprovalsOpen   = "open"
	TabApprovalsClosed = "answered"
	TabApprovalsGrants = "standing"
)

// ApprovalsPath is the queue of what waits for the member's word. beyond is the
// approval after which a page begins, "" for the first one.
func ApprovalsPath(ws, tab, beyond string) string {
	if tab == TabApprovalsOpen {
		tab = ""
	}
	return withQuery(join(ws, "approvals"), "tab", tab, "after", beyond)
}

// ApprovalPath is one approval; the same takes the POST of the answer.
func ApprovalPath(ws, id string) string { return join(ws, "approvals", id) }

// RevokeGrantPath takes the POST that ends a standing permission.
func RevokeGrantPath(ws, id string) string { return join(ws, "grants", id, "revoke") }

// PoliciesPath is the workspace's rules on what its agent may run.
func PoliciesPath(ws string) string { return SettingsPath(ws, "policies") }

// NewPolicyPath is where a rule is written. It may begin with a name that the
// rule matches.
func NewPolicyPath(ws, match string) string {
	return withQuery(join(ws, "settings", "policies", "new"), "match", match)
}

// PolicyPath is where the rule at a place of the list, counted from 1, is
// changed; the same takes the POST.
func PolicyPath(ws, number string) string { return join(ws, "settings", "policies", number) }

// DeletePolicyPath takes the POST that takes a rule out of the list.
func DeletePolicyPath(ws, number string) string {
	return join(ws, "settings", "policies", number, "delete")
}
