package seal

import (
	"errors"
	"fmt"
	"strings"

	"filippo.io/age"

	"github.com/refit-dev/refit/internal/upgrade/backup"
)

// Recipients parses age recipients.
func Recipients(texts []string) ([]age.Recipient, error) {
	if err := backup.ValidateRecipients(texts); err != nil {
		return nil, err
	}
	recipients := make([]age.Recipient, 0, len(texts))
	for i, text := range texts {
		recipient, err := age.ParseX25519Recipient(text)
		if err != nil {
			return nil, fmt.Errorf("recipient %d is not an age recipient: its checksum is wrong", i+1)
		}
		recipients = append(recipients, recipient)
	}
	return recipients, nil
}

// Identities parses the identities in the text of an age key file: one per line, and comments.
func Identities(text string) ([]age.Identity, error) {
	var identities []age.Identity
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		identity, err := age.ParseX25519Identity(line)
		if err != nil { // The error may repeat parts of the line.
			return nil, fmt.Errorf("line %d is not an age identity (AGE-SECRET-KEY-1…)", number)
		}
		identities = append(identities, identity)
	}
	if len(identities) == 0 {
		return nil, errors.New("there is no age identity (AGE-SECRET-KEY-1…)")
	}
	return identities, nil
}

// DrillKey is a key for one backup. It lets the host that takes a backup restore it in a drill
// without the identity of the recipients. It is never stored.
type DrillKey struct{ identity *age.X25519Identity }

// NewDrillKey returns a new key.
func NewDrillKey() (*DrillKey, error) {
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, errors.New("cannot generate a key for the drill")
	}
	return &DrillKey{identity}, nil
}

// Recipient encrypts to the key.
func (k *DrillKey) Recipient() age.Recipient { return k.identity.Recipient() }

// Identity decrypts with the key.
func (k *DrillKey) Identity() age.Identity { return k.identity }

// String hides the key from logs.
func (*DrillKey) String() string { return "drill key" }

// GoString hides the key from logs.
func (k *DrillKey) GoString() string { return k.String() }
