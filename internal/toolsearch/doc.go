// Package toolsearch finds tools among thousands by name or by need. It knows
// how such tools are named, what people call their work in five languages,
// and nothing of any one catalogue: no model is asked and nothing is read.
package toolsearch

// Doc is a tool as it is searched. Only Name has to be there.
type Doc struct {
	ID          string // of the caller's choosing; breaks ties between equal names
	Name        string // what a caller calls it by, such as mcp__splitpot__settle_up
	Raw         string // its name at its origin; "" when that is Name
	Server      string // name or title of the connection or product that it belongs to
	Title       string
	Description string
	Tags        []string
	Domains     []string
	Params      []Param
}

// Param is one argument of a tool.
type Param struct {
	Name        string
	Description string
}

// Hit is one tool found.
type Hit struct {
	Doc int // position in what Build was given
	// Score says how much of the query the tool answers, and how likely that
	// is no chance, from 0 to 1. A whole name has nearly 1; a good answer to a
	// sentence may have 0.2.
	Score float64
	// Confident is false for a tool that shares something with the query and
	// yet most likely does not do what it asks for.
	Confident bool
}

func (d *Doc) origin() string {
	if d.Raw != "" {
		return d.Raw
	}
	return d.Name
}
