package model

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	sdk "github.com/openai/openai-go/v3"

	"capstore/internal/fault"
)

// embedBatch is how many texts go into one request. OpenAI takes 2,048 of
// them and 300,000 tokens; local servers choke on less.
const embedBatch = 128

// Embedder turns texts into vectors at an OpenAI-compatible server. It is safe
// for parallel use.
type Embedder struct {
	client  *Client
	service sdk.EmbeddingService
}

// NewEmbedder returns the client of an embedding model. The provider is OpenAI
// where none is said; another is the fault model_provider_unknown. The other
// faults are those of New.
func NewEmbedder(c Config) (*Embedder, error) {
	c.Provider = cmp.Or(c.Provider, OpenAI)
	if c.Provider != OpenAI {
		return nil, fault.New(fault.Invalid, "model_provider_unknown",
			"Embeddings come from OpenAI-compatible servers; %q has none.", string(c.Provider))
	}
	client, err := newClient(c)
	if err != nil {
		return nil, err
	}
	return &Embedder{client: client, service: sdk.NewEmbeddingService(openAIOptions(c, client.base)...)}, nil
}

// Embed returns one vector for each text, in their order and all of the same
// length, or a fault of Model.Stream.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, 0, len(texts))
	for batch := range slices.Chunk(texts, embedBatch) {
		var got [][]float32
		begun := false
		err := e.client.persist(ctx, &begun, func(ctx context.Context) (err error) {
			got, err = e.embed(ctx, batch)
			return err
		})
		if err != nil {
			return nil, err
		}
		vectors = append(vectors, got...)
	}
	for _, v := range vectors {
		if len(v) != len(vectors[0]) {
			return nil, e.client.unreadable("the vectors differ in length", said{}).fault
		}
	}
	return vectors, nil
}

func (e *Embedder) embed(ctx context.Context, texts []string) ([][]float32, error) {
	input := make([]string, len(texts))
	for i, text := range texts {
		input[i] = text
		if strings.TrimSpace(text) == "" {
			input[i] = "-" // servers refuse the whole batch for an empty text
		}
	}
	res, err := e.service.New(ctx, sdk.EmbeddingNewParams{
		Model:          e.client.config.Name,
		Input:          sdk.EmbeddingNewParamsInputUnion{OfArrayOfStrings: input},
		EncodingFormat: sdk.EmbeddingNewParamsEncodingFormatFloat,
	})
	if err != nil {
		return nil, err
	}
	vectors := make([][]float32, len(texts))
	for _, item := range res.Data {
		if item.Index < 0 || item.Index >= int64(len(vectors)) || vectors[item.Index] != nil {
			return nil, fmt.Errorf("a vector for text %d of %d", item.Index, len(texts))
		}
		vectors[item.Index] = single(item.Embedding)
	}
	for i, v := range vectors {
		if len(v) == 0 {
			return nil, fmt.Errorf("no vector for text %d of %d", i, len(texts))
		}
	}
	return vectors, nil
}

func single(v []float64) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		if math.Abs(x) > math.MaxFloat32 || math.IsNaN(x) {
			return nil
		}
		out[i] = float32(x)
	}
	return out
}
