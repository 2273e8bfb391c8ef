package main

import (
	"encoding/json"

	"capstore/cmd/capstore/doctor"
)

type doctorCmd struct {
	JSON      bool   `name:"json" help:"Print the findings as JSON."`
	Workspace string `help:"Look at a member's agent too, as the running server knows it: of this workspace," placeholder:"W"`
	Email     string `help:"and this address."`
}

// Run examines and prints. Something essential that is wrong makes it fail.
func (c *doctorCmd) Run(env *environment) error {
	report := doctor.Examine(env.ctx, env.config, doctor.Member{Workspace: c.Workspace, Email: c.Email}, env.log)
	if c.JSON {
		enc := json.NewEncoder(env.stdout)
		enc.SetIndent("", "  ")
		if err := enc.Encode(report); err != nil {
			return err
		}
	} else {
		report.Print(env.stdout)
	}
	if !report.OK {
		return errSaid
	}
	return nil
}
