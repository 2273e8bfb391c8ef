package ops

import (
	"strconv"
	"strings"

	"capstore/internal/fault"
)

// A capability changes in two ways, so that its tag has two parts: the
// revision of its metadata and the digest of its latest version, such as
// r7-sha256:ab12…. A change of the one is held to its own part alone.

func capabilityTag(revision int64, digest string) string {
	return "r" + strconv.FormatInt(revision, 10) + "-" + digest
}

// digestOf returns the digest within an If-Match, which is that of a version
// or of a capability; "" when nothing was sent.
func digestOf(tag string) (string, error) {
	if strings.HasPrefix(tag, "r") {
		if _, digest, ok := strings.Cut(tag, "-"); ok {
			tag = digest
		}
	}
	if tag != "" && !strings.HasPrefix(tag, "sha256:") {
		return "", badTag("the ETag of the capability or of its latest version")
	}
	return tag, nil
}

// revisionOf returns the revision within an If-Match, 0 when nothing was sent.
func revisionOf(tag string) (int64, error) {
	if tag == "" {
		return 0, nil
	}
	tag, _, _ = strings.Cut(tag, "-")
	n, err := strconv.ParseInt(strings.TrimPrefix(tag, "r"), 10, 64)
	if err != nil || n < 1 {
		return 0, badTag("the ETag that a GET of the same address answered")
	}
	return n, nil
}

func badTag(what string) error {
	return fault.New(fault.Malformed, "bad_if_match", "If-Match takes %s.", what).
		Do("Read it again and send the ETag of that answer, or leave If-Match out.")
}
