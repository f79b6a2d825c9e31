package seal

import (
	"bytes"
	"errors"
	"maps"
	"slices"

	"filippo.io/age"
)

// Ring is a set of identities that records which of them decrypt. It is an age.Identity.
type Ring struct {
	identities []age.Identity
	opened     map[string]int // parts, by recipient
}

// NewRing returns a ring of distinct identities.
func NewRing(identities []age.Identity) *Ring {
	r := &Ring{opened: map[string]int{}}
	var known []string
	for _, identity := range identities {
		recipients := RecipientsOf([]age.Identity{identity})
		if len(recipients) == 1 && !slices.Contains(known, recipients[0]) {
			known, r.identities = append(known, recipients[0]), append(r.identities, identity)
		}
	}
	return r
}

// Unwrap tries every identity. One counts only if its key is the one that decrypts the part: the
// header of a part is not proven yet.
func (r *Ring) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	var key []byte
	for _, identity := range r.identities {
		found, err := identity.Unwrap(stanzas)
		if errors.Is(err, age.ErrIncorrectIdentity) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if key == nil {
			key = found
		}
		if bytes.Equal(key, found) {
			r.opened[RecipientsOf([]age.Identity{identity})[0]]++
		}
	}
	if key == nil {
		return nil, age.ErrIncorrectIdentity
	}
	return key, nil
}

// Recipients returns the recipients of all its identities.
func (r *Ring) Recipients() []string { return RecipientsOf(r.identities) }

// Opened returns the recipients whose identities have decrypted this many parts.
func (r *Ring) Opened(parts int) []string {
	var out []string
	for _, recipient := range slices.Sorted(maps.Keys(r.opened)) {
		if r.opened[recipient] == parts {
			out = append(out, recipient)
		}
	}
	return out
}
