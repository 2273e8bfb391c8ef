package identity

import (
	"context"
	"fmt"

	"github.com/alexedwards/argon2id"
)

// Fixed, since the library's own default follows the number of processors and
// a hash made on one machine should cost the same on the next. 46 MiB in one
// pass is OWASP's first choice; about 40 ms on a small server.
var hashParams = argon2id.Params{Memory: 46 << 10, Iterations: 1, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// maxHashing bounds how many hashes are computed at once: each takes 46 MiB,
// and anyone may ask for one.
const maxHashing = 4

func (s *Service) hash(ctx context.Context, password string) (string, error) {
	if err := s.hashing.Acquire(ctx, 1); err != nil {
		return "", err
	}
	defer s.hashing.Release(1)
	hash, err := argon2id.CreateHash(password, &hashParams)
	if err != nil {
		return "", fmt.Errorf("hash password: %w", err)
	}
	return hash, nil
}

// matches compares a password with a stored hash. A nil hash (nobody, or
// somebody without a password) takes as long as a real one and never matches.
func (s *Service) matches(ctx context.Context, password string, hash *string) (bool, error) {
	if err := s.hashing.Acquire(ctx, 1); err != nil {
		return false, err
	}
	defer s.hashing.Release(1)
	stored := s.dummy()
	if hash != nil {
		stored = *hash
	}
	ok, err := argon2id.ComparePasswordAndHash(password, stored)
	if err != nil {
		return false, fmt.Errorf("compare password: %w", err)
	}
	return ok && hash != nil, nil
}

func dummyHash() string {
	hash, err := argon2id.CreateHash("nobody's password", &hashParams)
	if err != nil { // the system's source of randomness never fails
		panic(err)
	}
	return hash
}
