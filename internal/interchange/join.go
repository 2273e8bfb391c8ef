package interchange

import (
	"strconv"
	"strings"

	"capstore/internal/fault"
)

// Upload is one file that somebody sent.
type Upload struct {
	Name string
	Data []byte
}

// partMark stands between the name of one of several files and a path in it.
const partMark = ": "

// FromUploads reads files that were sent together. One that cannot be read is a
// refused item, unless it is the only one. Of several files each path begins
// with the file's name.
func FromUploads(files []Upload, o Options) (Import, error) {
	if len(files) == 1 {
		return FromUpload(files[0].Data, files[0].Name, o)
	}
	var out Import
	for i, f := range files {
		under := f.Name + partMark
		for _, earlier := range files[:i] {
			if earlier.Name == f.Name {
				under = f.Name + " (" + strconv.Itoa(i+1) + ")" + partMark
			}
		}
		part, err := FromUpload(f.Data, f.Name, o.below(under))
		if err != nil {
			refused := Item{Path: f.Name, Status: Refused, Fault: fault.From(err)}
			out.sources = append(out.sources, source{f.Name, func() []Item { return []Item{refused} }})
			continue
		}
		out.add(part, under)
	}
	return out, nil
}

// below is the options for a part whose paths begin with the text.
func (o Options) below(under string) Options {
	out := Options{Rules: o.Rules, Supply: map[string]Supply{}}
	for p, s := range o.Supply {
		if rest, found := strings.CutPrefix(p, under); found {
			out.Supply[rest] = s
		}
	}
	return out
}

func (i *Import) add(part Import, under string) {
	for _, n := range part.Notes {
		n.Path = under + n.Path
		i.Notes = append(i.Notes, n)
	}
	for _, s := range part.sources {
		i.sources = append(i.sources, source{under + s.path, func() []Item {
			items := s.read()
			for k := range items {
				items[k].Path = under + items[k].Path
				notes := make([]Note, len(items[k].Notes))
				for j, n := range items[k].Notes {
					n.Path = under + n.Path
					notes[j] = n
				}
				items[k].Notes = notes
			}
			return items
		}})
	}
}

// Executable reports whether a file is meant to be run, where nothing else says
// so: it begins as scripts do.
func Executable(data []byte) bool { return len(data) > 2 && data[0] == '#' && data[1] == '!' }
