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

// errPassphrase is the error of a key file that age has encrypted.
var errPassphrase = errors.New("the file is protected by a passphrase: decrypt it with `age --decrypt FILE`, and use the result")

// Identities parses the identities in the text of an age key file: one per line, and comments.
func Identities(text string) ([]age.Identity, error) {
	if strings.HasPrefix(text, "age-encryption.org/") || strings.HasPrefix(text, "-----BEGIN AGE ENCRYPTED FILE-----") {
		return nil, errPassphrase
	}
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
			return nil, fmt.Errorf("line %d is not an age identity (AGE-SECRET-KEY-1…)%s", number, insteadOf(line))
		}
		identities = append(identities, identity)
	}
	if len(identities) == 0 {
		return nil, errors.New("there is no age identity (AGE-SECRET-KEY-1…)")
	}
	return identities, nil
}

// insteadOf describes what a line has instead of an identity, without repeating it.
func insteadOf(line string) string {
	switch {
	case strings.HasPrefix(line, "age1"):
		return ": it is a recipient, which cannot decrypt"
	case strings.HasPrefix(line, "AGE-PLUGIN-"):
		return ": it needs a plugin of age, which Refit does not support"
	}
	return ""
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
