package identity

import "github.com/alexedwards/argon2id"

// RealHashing is what a hash costs outside of these tests.
var RealHashing = hashParams

// CheapHashing lets tests hash hundreds of passwords; under the race detector
// each costs a second otherwise.
func CheapHashing() {
	hashParams = argon2id.Params{Memory: 64, Iterations: 1, Parallelism: 1, SaltLength: 16, KeyLength: 32}
}
