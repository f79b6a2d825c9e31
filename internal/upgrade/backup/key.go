package backup

import (
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// The parts of a backup, by the name of their objects.
const (
	PartEtcd = "etcd.db.zst.age"  // the snapshot of etcd
	PartHost = "host.tar.zst.age" // PKI, kubeadm configuration, static pods of the host
)

// PartNames are the parts that a backup may have, in the order in which they are written. A backup
// without the first one is none.
var PartNames = []string{PartEtcd, PartHost}

// The limits of an object's key.
const (
	MaxPrefix  = 256
	MaxAttempt = 9999
)

var (
	uidPattern     = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	digestPattern  = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	segmentPattern = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]*$`)
	manifestName   = regexp.MustCompile(`^manifest-([0-9a-f]{64})\.json$`)
)

// ID names one attempt to take a backup. An attempt is never resumed or overwritten: the next one
// has its own objects.
type ID struct {
	UID     string // of the EtcdBackup
	Attempt int    // starts at 1
}

func (id ID) String() string { return id.UID + "/" + strconv.Itoa(id.Attempt) }

// Validate refuses an ID that cannot be part of a key.
func (id ID) Validate() error {
	if !uidPattern.MatchString(id.UID) {
		return fmt.Errorf("%q is not the UID of a backup", id.UID)
	}
	if id.Attempt < 1 || id.Attempt > MaxAttempt {
		return fmt.Errorf("attempt %d is not between 1 and %d", id.Attempt, MaxAttempt)
	}
	return nil
}

// ValidatePrefix refuses a prefix whose keys some stores could read differently: empty segments,
// ".." and names that begin with a dot, and characters that URLs escape. An empty prefix is valid.
func ValidatePrefix(prefix string) error {
	if len(prefix) > MaxPrefix {
		return fmt.Errorf("the prefix is longer than %d characters", MaxPrefix)
	}
	if prefix == "" {
		return nil
	}
	for segment := range strings.SplitSeq(prefix, "/") {
		if !segmentPattern.MatchString(segment) {
			return fmt.Errorf("%q is not a prefix: use letters, digits, '.', '_', '-' and single slashes between them", prefix)
		}
	}
	return nil
}

// Dir returns the common beginning of the keys of an attempt, with a slash at its end.
func Dir(prefix string, id ID) string { return path.Join(prefix, id.String()) + "/" }

// Key returns the key of an object of an attempt.
func Key(prefix string, id ID, name string) string { return Dir(prefix, id) + name }

// ManifestName returns the name of the manifest with a digest. A manifest whose content has changed
// no longer has its name, so a store cannot return it unnoticed.
func ManifestName(digest string) string {
	return "manifest-" + strings.TrimPrefix(digest, "sha256:") + ".json"
}

// ManifestDigest returns the digest in the name of a manifest. It is false for other names.
func ManifestDigest(name string) (digest string, ok bool) {
	match := manifestName.FindStringSubmatch(name)
	if match == nil {
		return "", false
	}
	return "sha256:" + match[1], true
}

// ParseKey splits the key of an object into its attempt and name. It is false for keys that Refit
// does not write.
func ParseKey(prefix, key string) (id ID, name string, ok bool) {
	if prefix != "" {
		if key, ok = strings.CutPrefix(key, prefix+"/"); !ok {
			return ID{}, "", false
		}
	}
	segments := strings.Split(key, "/")
	if len(segments) != 3 || !segmentPattern.MatchString(segments[2]) {
		return ID{}, "", false
	}
	attempt, err := strconv.Atoi(segments[1])
	id = ID{UID: segments[0], Attempt: attempt}
	if err != nil || strconv.Itoa(attempt) != segments[1] || id.Validate() != nil {
		return ID{}, "", false
	}
	return id, segments[2], true
}
