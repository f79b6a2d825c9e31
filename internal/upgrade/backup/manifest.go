package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// Format is the format of manifests that this version writes and reads.
const Format = 1

// The limits of a manifest.
const (
	MaxManifest   = 64 << 10
	MaxRecipients = 16
	// MaxPart is the maximum size of a part, stored or plain: eight times the largest database
	// that etcd recommends.
	MaxPart = 64 << 30
	// MaxHostFiles is the maximum size of the archive of the host's files: a restore of them keeps
	// it in memory.
	MaxHostFiles = 64 << 20
)

// Manifest describes a stored backup. It is written after all parts were read back.
type Manifest struct {
	Format     int    `json:"format"`
	ClusterUID string `json:"clusterUID"` // of the namespace kube-system
	BackupUID  string `json:"backupUID"`
	Attempt    int    `json:"attempt"`
	// Time is when the snapshot was requested: in UTC, without fractions of a second.
	Time        time.Time `json:"time"`
	EtcdVersion string    `json:"etcdVersion"`
	// Revision is etcd's revision, and 0 if it is unknown.
	Revision int64  `json:"revision,omitempty"`
	Parts    []Part `json:"parts"`
	// Recipients can decrypt the parts. They are age recipients.
	Recipients []string `json:"recipients"`
}

// Part describes an object beside the manifest. It has a name and no key, so that a manifest cannot
// refer to other backups, and a copied one stays valid.
type Part struct {
	Name   string  `json:"name"`
	Stored Content `json:"stored"` // compressed and encrypted
	Plain  Content `json:"plain"`
}

// Content is the size and the digest of bytes.
type Content struct {
	Size   int64  `json:"size"`
	Digest string `json:"digest"`
}

// ID returns the attempt that wrote the manifest.
func (m *Manifest) ID() ID { return ID{UID: m.BackupUID, Attempt: m.Attempt} }

// Header returns the header of a part of this backup.
func (m *Manifest) Header(part string) Header {
	return Header{ClusterUID: m.ClusterUID, ID: m.ID(), Part: part}
}

// Part returns the part of a name.
func (m *Manifest) Part(name string) (Part, bool) {
	for _, part := range m.Parts {
		if part.Name == name {
			return part, true
		}
	}
	return Part{}, false
}

// StoredSize returns the size of all parts in the store.
func (m *Manifest) StoredSize() int64 {
	var sum int64
	for _, part := range m.Parts {
		sum += part.Stored.Size
	}
	return sum
}

// Encode returns the only encoding of a manifest, and its digest.
func (m *Manifest) Encode() (raw []byte, digest string, err error) {
	if err := m.Validate(); err != nil {
		return nil, "", fmt.Errorf("invalid manifest: %w", err)
	}
	raw, err = json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, "", fmt.Errorf("cannot encode the manifest: %w", err)
	}
	raw = append(raw, '\n')
	if len(raw) > MaxManifest {
		return nil, "", fmt.Errorf("the manifest is larger than %d bytes", MaxManifest)
	}
	return raw, Digest(raw), nil
}

// DecodeManifest decodes the manifest with a digest. Every other encoding than that of Encode is an
// error: duplicate fields, other spellings and data after the document have no meaning. Only the
// format of a later version is no damage.
func DecodeManifest(raw []byte, digest string) (*Manifest, error) {
	if len(raw) > MaxManifest {
		return nil, fmt.Errorf("%w: the manifest is larger than %d bytes", ErrCorrupt, MaxManifest)
	}
	if Digest(raw) != digest {
		return nil, fmt.Errorf("%w: the manifest does not match the digest in its name", ErrCorrupt)
	}
	var later struct {
		Format int `json:"format"`
	}
	if json.Unmarshal(raw, &later) == nil && later.Format > Format {
		return nil, fmt.Errorf("%w: the manifest has format %d", ErrFormat, later.Format)
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	m := &Manifest{}
	if err := decoder.Decode(m); err != nil {
		return nil, fmt.Errorf("%w: cannot decode the manifest: %w", ErrCorrupt, err)
	}
	again, _, err := m.Encode()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if !bytes.Equal(again, raw) {
		return nil, fmt.Errorf("%w: the manifest has duplicate fields, another layout or data after its end", ErrCorrupt)
	}
	return m, nil
}

// Digest returns the digest of bytes.
func Digest(raw []byte) string {
	sum := sha256.Sum256(raw)
	return "sha256:" + hex.EncodeToString(sum[:])
}
