package interchange

import (
	"strings"

	"capstore/internal/capability"
)

// read are the keys of an entry that other functions take in.
var read = append(append(append(append(append([]string{"image", "args", "arguments", "name", "id", "title", "displayName", "description", "provides", keptKey, "$schema"},
	urlKeys...), commandKeys...), transportKeys...), headerKeys...), append(bearerKeys, envKeys...)...)

// remarks are the keys of clients that mean something and are not taken over.
var remarks = []struct {
	keys          []string
	code, message string
}{
	{[]string{"autoApprove", "alwaysAllow", "trust", "autoApproveTools", "auto_approve"}, "approvals_dropped",
		"The file lets tools run without asking. That is not taken over: whoever adopts decides what may write."},
	{[]string{"headersHelper", "headers_helper", "awsAuth"}, "headers_helper",
		"The file fetches headers by a command of its machine, which is never run here; declare the secret that it gives."},
	{[]string{"envFile", "env_file", "dotenv"}, "env_file", "The file of variables that the server is started with is not read; declare what it holds."},
	{[]string{"cwd", "workingDirectory", "working_directory"}, "working_folder", "The folder in which the server is started belongs to the machine of the file and is left out."},
	{[]string{"sandbox", "sandboxEnabled"}, "client_sandbox", "How the client isolates the server is left out: here the operator decides it."},
}

// optional takes in what an entry says beside its connection, and notes the
// rest by name.
func (m *maker) optional(o *object) {
	known := append([]string{}, read...)
	if m.spec.Image != "" {
		known = append(known, variableKeys...)
	}
	if o.flag("disabled") || o.values["enabled"] == false {
		m.note("disabled", "The server is switched off in the file; here each workspace and member decides that.")
	}
	known = append(known, "disabled", "enabled")
	for _, r := range remarks {
		for _, k := range r.keys {
			if v := o.values[k]; v != nil && v != false {
				m.remark(Note{Code: r.code, Message: r.message})
			}
		}
		known = append(known, r.keys...)
	}
	m.auth(o)
	known = append(known, "oauth", "auth")
	if rest := unknownKeys(o, known); len(rest) > 0 {
		m.note("keys_not_used", "These keys of the file are not used here: %s.", clip(strings.Join(rest, ", "), 200))
	}
}

// auth takes over that a server is signed in to by OAuth.
func (m *maker) auth(o *object) {
	word := strings.ToLower(o.text("auth", "oauth"))
	kind := strings.ToLower(o.object("auth").text("type"))
	if word != "oauth" && kind != "oauth" && o.object("oauth") == nil && !o.flag("oauth") {
		if o.has("auth") {
			m.note("keys_not_used", "These keys of the file are not used here: %s.", "auth")
		}
		return
	}
	if m.spec.URL == "" || len(m.spec.RequiredSecrets) > 0 {
		m.note("keys_not_used", "These keys of the file are not used here: %s.", "oauth")
		return
	}
	m.spec.Auth = capability.AuthOAuth
}
