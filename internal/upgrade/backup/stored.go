package backup

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Object is an object of a store, without its content.
type Object struct {
	Key      string
	Size     int64
	Modified time.Time
	// Partial is an upload that has not ended. It occupies space, and cannot be read.
	Partial bool
}

// Attempt is what a store has of one attempt.
type Attempt struct {
	ID      ID
	Objects map[string]Object // by name; partial ones are in Leftovers
	// Leftovers are interrupted uploads.
	Leftovers []Object
	// Modified is when the newest object was written.
	Modified time.Time
}

// Group sorts the objects of a store into attempts, by UID and attempt. It ignores objects that
// Refit does not write.
func Group(prefix string, objects []Object) []Attempt {
	byID := map[ID]*Attempt{}
	for _, object := range objects {
		id, name, ok := ParseKey(prefix, object.Key)
		if !ok {
			continue
		}
		a := byID[id]
		if a == nil {
			a = &Attempt{ID: id, Objects: map[string]Object{}}
			byID[id] = a
		}
		if object.Partial {
			a.Leftovers = append(a.Leftovers, object)
		} else {
			a.Objects[name] = object
		}
		if object.Modified.After(a.Modified) {
			a.Modified = object.Modified
		}
	}
	attempts := make([]Attempt, 0, len(byID))
	for _, a := range byID {
		attempts = append(attempts, *a)
	}
	slices.SortFunc(attempts, func(a, b Attempt) int {
		return cmp.Or(strings.Compare(a.ID.UID, b.ID.UID), cmp.Compare(a.ID.Attempt, b.ID.Attempt))
	})
	return attempts
}

// Manifest returns the digest of the attempt's manifest. Two manifests are an error: Refit writes
// one, so another was added, and nothing in the store shows which.
func (a *Attempt) Manifest() (digest string, err error) {
	for name := range a.Objects {
		found, ok := ManifestDigest(name)
		if ok && digest != "" {
			return "", fmt.Errorf("%w: the backup has several manifests", ErrCorrupt)
		}
		if ok {
			digest = found
		}
	}
	if digest == "" {
		return "", fmt.Errorf("%w: it has no manifest", ErrIncomplete)
	}
	return digest, nil
}

// Complete returns nil if the attempt has every part of its manifest in the listed size. It reads
// no content: only Verify proves that.
func (a *Attempt) Complete(m *Manifest) error {
	var problems []error
	for _, part := range m.Parts {
		switch object, ok := a.Objects[part.Name]; {
		case !ok:
			problems = append(problems, fmt.Errorf("%w: %s is missing", ErrIncomplete, part.Name))
		case object.Size != part.Stored.Size:
			problems = append(problems, fmt.Errorf("%w: %s has %d bytes instead of %d", ErrIncomplete, part.Name, object.Size, part.Stored.Size))
		}
	}
	return errors.Join(problems...)
}
