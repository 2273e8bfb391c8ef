package secret

import "strings"

// Seal encrypts bytes that are kept for a short time and may hold secrets. They
// open only for what they are bound to.
func (s *Service) Seal(clear []byte, bound ...string) ([]byte, error) {
	if err := s.keys.load(); err != nil {
		return nil, err
	}
	return s.keys.seal(clear, boundTo(bound))
}

// Unseal opens what Seal made. It reports false for bytes that are bound to
// something else, and once a rotation dropped the key that they were sealed
// under.
func (s *Service) Unseal(sealed []byte, bound ...string) ([]byte, bool) {
	clear, err := s.keys.open(sealed, boundTo(bound))
	if err != nil && s.keys.load() == nil {
		clear, err = s.keys.open(sealed, boundTo(bound))
	}
	return clear, err == nil
}

func boundTo(parts []string) []byte {
	return []byte("capstore sealed 1\x00" + strings.Join(parts, "\x00"))
}
