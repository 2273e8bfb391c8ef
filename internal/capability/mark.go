package capability

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"slices"
)

// Mark collects what a digest is made of where no document is kept under it:
// each part stands behind its length, so that none runs into the next. The
// zero value is empty.
type Mark []byte

// Number adds a number that is not negative.
func (m *Mark) Number(n int) { *m = binary.AppendUvarint(*m, uint64(n)) }

// Text adds the texts.
func (m *Mark) Text(texts ...string) {
	for _, t := range texts {
		m.Number(len(t))
		*m = append(*m, t...)
	}
}

// Flags adds the flags.
func (m *Mark) Flags(on ...bool) {
	for _, f := range on {
		b := byte(0)
		if f {
			b = 1
		}
		*m = append(*m, b)
	}
}

// List adds the texts and how many they are.
func (m *Mark) List(list []string) {
	m.Number(len(list))
	m.Text(list...)
}

// Dict adds the pairs, in the order of their keys.
func (m *Mark) Dict(values map[string]string) { markDict(m, values) }

func markDict[V ~string](m *Mark, values map[string]V) {
	m.Number(len(values))
	for _, k := range slices.Sorted(maps.Keys(values)) {
		m.Text(k, string(values[k]))
	}
}

// Grant adds what an adoption pins and allows; who adopted, and when, is not
// part of it.
func (m *Mark) Grant(a *Adoption) {
	m.Text(a.Source, a.ID, a.Version, a.ConsentDigest)
	m.Dict(a.SecretBindings)
	m.Dict(a.Settings)
	m.List(a.Egress)
	markDict(m, a.ToolClasses)
	m.Flags(a.EnableWrite)
	m.List(a.WriteTools)
}

// Sum is the SHA-256 of what was collected, which starts anew.
func (m *Mark) Sum() string {
	sum := sha256.Sum256(*m)
	*m = (*m)[:0]
	return hex.EncodeToString(sum[:])
}
