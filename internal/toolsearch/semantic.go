package toolsearch

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"
)

// Embedder turns texts into vectors, one each and all of one length.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// Semantic is an index beside what an embedding model takes for near. It never
// changes, and any number of searches may use it at once.
type Semantic struct {
	index    *Index
	embedder Embedder
	vectors  [][]float32 // of length 1, by tool
	known    map[*analysis][]float32
}

const (
	pool      = 50  // hits of each kind that are fused
	smoothing = 10  // how little the first ranks differ
	farAbove  = 3.0 // standard deviations above the mean nearness that count half, and make a hit confident
)

// NewSemantic embeds the tools of x. Those that before holds, which may be nil,
// are not embedded again. The error is the embedder's.
func NewSemantic(ctx context.Context, x *Index, e Embedder, before *Semantic) (*Semantic, error) {
	s := &Semantic{index: x, embedder: e, vectors: make([][]float32, len(x.tools)), known: map[*analysis][]float32{}}
	var missing []int
	var texts []string
	for i, a := range x.tools {
		if before != nil && before.known[a] != nil {
			s.vectors[i] = before.known[a]
			continue
		}
		missing, texts = append(missing, i), append(texts, a.spoken())
	}
	if len(texts) > 0 {
		made, err := e.Embed(ctx, texts)
		if err != nil {
			return nil, err
		}
		for k, i := range missing {
			s.vectors[i] = unitLength(made[k])
		}
	}
	for i, a := range x.tools {
		s.known[a] = s.vectors[i]
	}
	return s, nil
}

// spoken is a tool as a model of language reads it best.
func (a *analysis) spoken() string {
	var name []string
	for _, w := range splitWords(bareName(&a.doc)) {
		name = append(name, w.text)
	}
	return strings.Join([]string{a.doc.Server, strings.Join(name, " "), a.doc.Title, a.doc.Description}, ". ")
}

// Search is Index.Search with what the model finds beside it. The order is made
// of a tool's ranks among the words and in nearness, which no model's idea of
// near can upset; the score is the mean of how much of the query it answers in
// words and how far above the others it is in nearness. A whole name stays
// first. Where the query cannot be embedded, the hits are those of the index
// alone, beside the error.
func (s *Semantic) Search(ctx context.Context, q string, limit int, admit func(i int) bool) ([]Hit, error) {
	words := s.index.Search(q, max(limit, pool), admit)
	if limit <= 0 || len(s.vectors) == 0 || strings.TrimSpace(q) == "" {
		return words[:min(max(limit, 0), len(words))], nil
	}
	made, err := s.embedder.Embed(ctx, []string{cut(q, maxQuery)})
	if err != nil {
		return words[:min(limit, len(words))], err
	}
	hits := s.fuse(words, s.nearest(unitLength(made[0]), admit))
	return hits[:min(limit, len(hits))], nil
}

// nearest lists the admitted tools that are nearest to a vector, with scores
// from 0 for what is no nearer than most, to 1. Models differ in what is near,
// so it is told from how the tools lie.
func (s *Semantic) nearest(v []float32, admit func(i int) bool) []Hit {
	near := make([]float64, len(s.vectors))
	var sum, squares float64
	for i, w := range s.vectors {
		near[i] = dot(v, w)
		sum, squares = sum+near[i], squares+near[i]*near[i]
	}
	mean := sum / float64(len(near))
	spread := math.Sqrt(max(tiny, squares/float64(len(near))-mean*mean))
	var hits []Hit
	for i, n := range near {
		if above := (n - mean) / spread; above > 0 && (admit == nil || admit(i)) {
			score := above / (above + farAbove)
			hits = append(hits, Hit{Doc: i, Score: score, Confident: score >= 0.5})
		}
	}
	slices.SortFunc(hits, s.index.order)
	return hits[:min(pool, len(hits))]
}

// fuse puts two lists into one order by their ranks, and adds up the scores.
func (s *Semantic) fuse(words, near []Hit) []Hit {
	worth, fused := map[int]float64{}, map[int]Hit{}
	for _, list := range [][]Hit{words, near} {
		for rank, h := range list {
			worth[h.Doc] += 1 / float64(smoothing+rank)
			f := fused[h.Doc]
			fused[h.Doc] = Hit{Doc: h.Doc, Score: f.Score + h.Score/2, Confident: f.Confident || h.Confident}
		}
	}
	for _, h := range words {
		if h.Score >= surely {
			fused[h.Doc], worth[h.Doc] = h, 1+h.Score
		}
	}
	hits := slices.Collect(maps.Values(fused))
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(-cmp.Compare(worth[a.Doc], worth[b.Doc]), s.index.order(a, b))
	})
	return hits
}

func dot(a, b []float32) float64 {
	var sum float32
	for i := range min(len(a), len(b)) {
		sum += a[i] * b[i]
	}
	return float64(sum)
}

// unitLength scales a vector so that the product of two is the cosine of the
// angle between them. Nothing is near to a vector of zeros.
func unitLength(v []float32) []float32 {
	length := math.Sqrt(dot(v, v))
	if length == 0 {
		return v
	}
	out := make([]float32, len(v))
	for i := range v {
		out[i] = v[i] / float32(length)
	}
	return out
}
