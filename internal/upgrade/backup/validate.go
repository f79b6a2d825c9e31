package backup

import (
	"fmt"
	"regexp"
	"slices"
	"time"
)

var (
	recipientPattern   = regexp.MustCompile(`^age1[02-9ac-hj-np-z]{58}$`)
	etcdVersionPattern = regexp.MustCompile(`^[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}(-[0-9A-Za-z.-]{1,64})?$`)
)

// Validate refuses a manifest with a missing or unbounded field.
func (m *Manifest) Validate() error {
	switch {
	case m.Format != Format:
		return fmt.Errorf("format %d is unknown to this version of Refit", m.Format)
	case !uidPattern.MatchString(m.ClusterUID):
		return fmt.Errorf("%.64q is not the UID of a cluster", m.ClusterUID)
	case !etcdVersionPattern.MatchString(m.EtcdVersion):
		return fmt.Errorf("%.64q is not a version of etcd", m.EtcdVersion)
	case m.Revision < 0:
		return fmt.Errorf("revision %d is negative", m.Revision)
	case m.Time.Year() < 2000 || m.Time.Year() > 9999 || m.Time != m.Time.UTC().Truncate(time.Second):
		return fmt.Errorf("the time %s is not in UTC and whole seconds", m.Time)
	}
	if err := m.ID().Validate(); err != nil {
		return err
	}
	if err := validateParts(m.Parts); err != nil {
		return err
	}
	return ValidateRecipients(m.Recipients)
}

// validateParts requires the part of etcd, then others in their order, each at most once.
func validateParts(parts []Part) error {
	if len(parts) == 0 || parts[0].Name != PartEtcd {
		return fmt.Errorf("the first part is not %s", PartEtcd)
	}
	last := -1
	for _, part := range parts {
		at := slices.Index(PartNames, part.Name)
		if at <= last {
			return fmt.Errorf("the part %.64q is unknown, repeated or out of order", part.Name)
		}
		last = at
		for _, content := range []Content{part.Stored, part.Plain} {
			if content.Size < 1 || content.Size > MaxPart || !digestPattern.MatchString(content.Digest) {
				return fmt.Errorf("size or digest of the part %s is invalid", part.Name)
			}
		}
	}
	return nil
}

// ValidateRecipients refuses a list that is empty, too long or has other than distinct age
// recipients.
func ValidateRecipients(recipients []string) error {
	if len(recipients) == 0 || len(recipients) > MaxRecipients {
		return fmt.Errorf("%d recipients instead of 1 to %d", len(recipients), MaxRecipients)
	}
	for i, recipient := range recipients {
		// A secret key may have been pasted by mistake, so the text is not repeated.
		if !recipientPattern.MatchString(recipient) {
			return fmt.Errorf("recipient %d is not an age recipient (age1…)", i+1)
		}
		if slices.Contains(recipients[:i], recipient) {
			return fmt.Errorf("recipient %d is repeated", i+1)
		}
	}
	return nil
}
