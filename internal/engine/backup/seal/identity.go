package seal

import (
	"errors"
	"fmt"

	"filippo.io/age"
)

// NewIdentity returns the text of a new age key file, and its recipient.
func NewIdentity() (text, recipient string, err error) {
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		return "", "", errors.New("cannot generate an age identity")
	}
	recipient = identity.Recipient().String()
	return fmt.Sprintf("# public key: %s\n%s\n", recipient, identity), recipient, nil
}

// RecipientsOf returns the recipients of identities.
func RecipientsOf(identities []age.Identity) []string {
	var out []string
	for _, identity := range identities {
		if key, ok := identity.(*age.X25519Identity); ok {
			out = append(out, key.Recipient().String())
		}
	}
	return out
}
