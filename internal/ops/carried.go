package ops

import (
	"capstore/internal/capability"
	"capstore/internal/workspace"
)

// CarriedRow is one thing that the member's agent could carry, with why it is
// on or off for him.
type CarriedRow struct {
	Key             capability.Key      `json:"key"`
	Name            string              `json:"name"`
	Description     string              `json:"description"`
	Kind            capability.Kind     `json:"kind,omitempty"`
	Scope           capability.RowScope `json:"scope" doc:"The group in which it is shown."`
	Origin          capability.Origin   `json:"origin"`
	Source          string              `json:"source,omitempty"`
	ID              string              `json:"id,omitempty"`
	Version         string              `json:"version,omitempty"`
	Digest          string              `json:"digest,omitempty"`
	Plugin          string              `json:"plugin,omitempty" doc:"The plugin that it was imported as a part of."`
	Baseline        bool                `json:"baseline" doc:"What the workspace carries where the member says nothing."`
	Override        *bool               `json:"override" doc:"The member's own choice; null where he follows the workspace."`
	Enabled         bool                `json:"enabled" doc:"Whether his agent carries it."`
	Reason          capability.Reason   `json:"reason"`
	ShadowedBy      *capability.Key     `json:"shadowedBy" doc:"The row that carries the name instead."`
	Needs           []Need              `json:"needs" doc:"What has to be set before it can run."`
	Functions       []Function          `json:"functions"`
	LatestVersion   string              `json:"latestVersion,omitempty"`
	UpdateAvailable bool                `json:"updateAvailable"`
	Withdrawn       bool                `json:"withdrawn"`
	BlockedReason   string              `json:"blockedReason,omitempty"`
}

// Need is a secret or setting without which a row cannot run.
type Need struct {
	Kind        string `json:"kind" enum:"secret,setting"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// Function is one function as the model sees it.
type Function struct {
	Name    string `json:"name"`
	Raw     string `json:"raw" doc:"The name at its origin."`
	Write   bool   `json:"write"`
	Allowed bool   `json:"allowed" doc:"False for a write that nobody opted into."`
}

// CarriedDetail is a row with everything that there is to know of it.
type CarriedDetail struct {
	CarriedRow
	Transport workspace.Transport  `json:"transport,omitempty"`
	Target    string               `json:"target,omitempty"`
	Secrets   []BoundSecret        `json:"secrets"`
	Settings  []capability.Setting `json:"settings"`
	Grant     capability.Adoption  `json:"grant" doc:"What holds for calls: the workspace's adoption, or what stands in for one."`
	Editable  bool                 `json:"editable" doc:"Whether the member may bind secrets to it."`
}

// BoundSecret is a declared secret and what it is bound to.
type BoundSecret struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Bound       string `json:"bound" doc:"The name of the secret that it is bound to; empty for none."`
	Available   bool   `json:"available"`
	Own         bool   `json:"own" doc:"It is the member's own rather than the workspace's."`
}

func carriedRow(r workspace.Row) CarriedRow {
	out := CarriedRow{
		Key: r.Key, Name: r.Name, Description: r.Description, Kind: r.Kind, Scope: r.Scope, Origin: r.Origin,
		Source: r.Source, ID: r.ID, Version: r.Version, Digest: r.Digest, Plugin: r.Plugin, Baseline: r.Baseline, Override: r.Override,
		Enabled: r.Enabled, Reason: r.Reason, Needs: []Need{}, Functions: []Function{}, LatestVersion: r.LatestVisible,
		UpdateAvailable: r.UpdateAvailable, Withdrawn: r.Withdrawn, BlockedReason: r.BlockedReason,
	}
	if r.ShadowedBy != "" {
		out.ShadowedBy = &r.ShadowedBy
	}
	for _, m := range r.Missing {
		out.Needs = append(out.Needs, Need{Kind: "secret", Name: m.Name, Description: m.Description})
	}
	for _, u := range r.Unset {
		out.Needs = append(out.Needs, Need{Kind: "setting", Name: u.Name, Description: u.Description})
	}
	for _, f := range r.Functions {
		out.Functions = append(out.Functions, Function{Name: f.Name, Raw: f.Raw, Write: f.Write, Allowed: f.Allowed})
	}
	return out
}
