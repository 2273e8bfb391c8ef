package model

import (
	"math"
	"math/big"
)

// Usage counts the tokens of one answer. No token is in two fields.
type Usage struct {
	Input       int64 // read in full
	CachedInput int64 // read from the provider's cache
	CacheWrite  int64 // read and written to the provider's cache
	Output      int64
}

// Plus returns the sum of both.
func (u Usage) Plus(v Usage) Usage {
	return Usage{
		Input:       u.Input + v.Input,
		CachedInput: u.CachedInput + v.CachedInput,
		CacheWrite:  u.CacheWrite + v.CacheWrite,
		Output:      u.Output + v.Output,
	}
}

// Price is what a model costs, in micro-dollars for a million tokens: 3,000,000
// stands for three dollars. The zero value is free.
type Price struct {
	Input       int64
	CachedInput int64
	CacheWrite  int64
	Output      int64
}

// PriceOf completes the two prices that people know with those of the cache.
// Anthropic reads from it at a tenth of the input's price and writes at five
// quarters. Elsewhere the discount differs by model, so cached input counts in
// full and the cost is an upper bound.
func PriceOf(p Provider, input, output int64) Price {
	price := Price{Input: input, CachedInput: input, CacheWrite: input, Output: output}
	if p == Anthropic {
		price.CachedInput = input / 10
		price.CacheWrite = input + input/4
	}
	return price
}

// Cost returns what the tokens cost in micro-dollars, rounded up, so that a
// small answer is not free. A sum that no int64 holds is cut to the largest.
func (p Price) Cost(u Usage) int64 {
	sum := new(big.Int)
	for _, part := range [][2]int64{
		{p.Input, u.Input}, {p.CachedInput, u.CachedInput},
		{p.CacheWrite, u.CacheWrite}, {p.Output, u.Output},
	} {
		sum.Add(sum, new(big.Int).Mul(big.NewInt(part[0]), big.NewInt(part[1])))
	}
	million := big.NewInt(1_000_000)
	sum.Add(sum, big.NewInt(999_999))
	sum.Div(sum, million)
	if !sum.IsInt64() {
		return math.MaxInt64
	}
	return sum.Int64()
}
