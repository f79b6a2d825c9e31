package backup

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// MaxHeader is the maximum size of an encoded header.
const MaxHeader = 256

const headerMagic = "refit-backup-part 1"

// Header is the beginning of the plain text of a part. Encryption authenticates it together with
// the content, so a part of another backup, or of an earlier attempt, is refused even if no digest
// is known.
type Header struct {
	ClusterUID string
	ID         ID
	Part       string
}

// Encode returns the header as lines of text: magic, cluster, backup, attempt, part, and an empty
// line.
func (h Header) Encode() []byte {
	lines := []string{headerMagic, h.ClusterUID, h.ID.UID, strconv.Itoa(h.ID.Attempt), h.Part, "", ""}
	return []byte(strings.Join(lines, "\n"))
}

// Check compares an encoded header with the expected one, and names the first difference.
func (h Header) Check(raw []byte) error {
	if bytes.Equal(raw, h.Encode()) {
		return nil
	}
	lines := strings.Split(string(raw), "\n")
	if len(lines) != 7 || lines[0] != headerMagic {
		return fmt.Errorf("%w: the part has no valid header", ErrCorrupt)
	}
	for i, want := range []string{h.ClusterUID, h.ID.UID, strconv.Itoa(h.ID.Attempt), h.Part} {
		if lines[i+1] != want {
			field := []string{"cluster", "backup", "attempt", "part"}[i]
			return fmt.Errorf("%w: the %s of the part is %.64q instead of %q", ErrOther, field, lines[i+1], want)
		}
	}
	return fmt.Errorf("%w: the part has no valid header", ErrCorrupt)
}

// ValidHeader refuses a header whose fields do not fit their lines.
func ValidHeader(h Header) error {
	if !uidPattern.MatchString(h.ClusterUID) {
		return fmt.Errorf("%.64q is not the UID of a cluster", h.ClusterUID)
	}
	if !segmentPattern.MatchString(h.Part) || len(h.Part) > 64 {
		return fmt.Errorf("%.64q is not the name of a part", h.Part)
	}
	return h.ID.Validate()
}
