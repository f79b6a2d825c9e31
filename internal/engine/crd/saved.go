package crd

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// maxSavedBytes leaves space in a Secret, whose limit is 1 MiB.
	maxSavedBytes = 900 << 10
	// maxDecodedBytes bounds what is decompressed.
	maxDecodedBytes = 64 << 20
)

// Saved are CRDs as they were before an upgrade.
type Saved struct {
	// Definitions have their name, UID, labels, annotations, spec and stored versions. A CA that a
	// controller injects is left out.
	Definitions []*Definition `json:"definitions"`
	// Absent are the CRDs that did not exist.
	Absent []string `json:"absent,omitempty"`
}

// Save returns the live CRDs of these names for a rollback.
func (a *Actor) Save(ctx context.Context, names ...string) (*Saved, error) {
	found, err := a.Definitions(ctx, names...)
	if err != nil {
		return nil, fmt.Errorf("cannot save CRDs: %w", err)
	}
	saved := &Saved{}
	for _, name := range names {
		if live := found[name]; live != nil {
			saved.Definitions = append(saved.Definitions, stripped(live))
		} else {
			saved.Absent = append(saved.Absent, name)
		}
	}
	return saved, nil
}

// stripped returns a definition without what the API server and controllers set.
func stripped(live *Definition) *Definition {
	kept := &Definition{
		ObjectMeta: metav1.ObjectMeta{Name: live.Name, UID: live.UID, Labels: live.Labels, Annotations: live.Annotations, ManagedFields: live.ManagedFields},
		Spec:       live.Spec,
	}
	kept.Status.StoredVersions = live.Status.StoredVersions
	kept = kept.DeepCopy()
	dropInjectedCA(kept)
	kept.ManagedFields = nil
	return kept
}

// Encode returns the CRDs as bytes to store. They fit into a Secret.
func (s *Saved) Encode() ([]byte, error) {
	var encoded bytes.Buffer
	compressed := gzip.NewWriter(&encoded)
	if err := errors.Join(json.NewEncoder(compressed).Encode(s), compressed.Close()); err != nil {
		return nil, fmt.Errorf("cannot encode the saved CRDs: %w", err)
	}
	if encoded.Len() > maxSavedBytes {
		return nil, fmt.Errorf("%w: %d bytes", ErrSavedTooLarge, encoded.Len())
	}
	return encoded.Bytes(), nil
}

// DecodeSaved reads what Encode returned.
func DecodeSaved(content []byte) (*Saved, error) {
	compressed, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("cannot decode the saved CRDs: %w", err)
	}
	saved := &Saved{}
	if err := json.NewDecoder(io.LimitReader(compressed, maxDecodedBytes)).Decode(saved); err != nil {
		return nil, fmt.Errorf("cannot decode the saved CRDs: %w", err)
	}
	return saved, nil
}

// Changes returns the changes from the saved CRDs to others, in the order of the others. A CRD that
// did not exist has no Old. Saved CRDs that the others lack are left alone: CRDs always stay.
func (s *Saved) Changes(to ...*Definition) []Change {
	changes := make([]Change, 0, len(to))
	for _, definition := range to {
		change := Change{New: definition}
		for _, saved := range s.Definitions {
			if saved.Name == definition.Name {
				change.Old = saved
			}
		}
		changes = append(changes, change)
	}
	return changes
}
