package crd

import (
	"fmt"
	"strings"
)

// Mode is how a definition with another storage version is applied.
type Mode string

const (
	// SameStorage means that the storage version does not change.
	SameStorage Mode = "SameStorage"
	// KeepStorage means that objects stay in the old storage version until Commit. A rollback needs
	// no conversion.
	KeepStorage Mode = "KeepStorage"
	// FlipStorage means that the storage version changes at once, because the old one cannot store
	// all fields of the new one.
	FlipStorage Mode = "FlipStorage"
)

// maxNamedFields bounds the fields in the message of a Decision.
const maxNamedFields = 5

// Decision is how the first write of a change is made, and why.
type Decision struct {
	Mode Mode
	// From and To are the storage versions before the change and after Commit.
	From, To string
	Message  string
}

// Expand returns the definition to apply first: the new one, with the old storage version where no
// field is lost by that. Commit changes the storage version after the upgrade is verified.
//
// With a conversion webhook, the webhook decides what the old version stores. Without one, the API
// server drops the fields that the old version lacks, so their presence forces the change at once.
func Expand(change Change) (*Definition, Decision) {
	applied := change.New.DeepCopy()
	d := Decision{From: StorageVersion(change.Old), To: StorageVersion(change.New)}
	if d.From == d.To {
		d.Mode, d.Message = SameStorage, fmt.Sprintf("the storage version stays %s", d.To)
		return applied, d
	}
	d.Mode, d.Message = storageMode(change.New, d.From, d.To)
	if d.Mode == KeepStorage {
		setStorage(applied, d.From)
	}
	return applied, d
}

func storageMode(crd *Definition, from, to string) (mode Mode, message string) {
	if versionOf(crd, from) == nil {
		return FlipStorage, fmt.Sprintf("the storage version changes to %s at once: the new CRD has no version %s", to, from)
	}
	if usesWebhook(crd) {
		return KeepStorage, fmt.Sprintf("the storage version stays %s until the upgrade is verified: the conversion webhook converts from %s", from, to)
	}
	missing, err := missingFields(crd, to, from)
	switch {
	case err != nil:
		return FlipStorage, fmt.Sprintf("the storage version changes to %s at once: %v", to, err)
	case len(missing) > 0:
		return FlipStorage, fmt.Sprintf("the storage version changes to %s at once: version %s has no field %s and would drop it", to, from, named(missing))
	default:
		return KeepStorage, fmt.Sprintf("the storage version stays %s until the upgrade is verified: it has all fields of %s", from, to)
	}
}

func named(fields []string) string {
	if more := len(fields) - maxNamedFields; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(fields[:maxNamedFields], ", "), more)
	}
	return strings.Join(fields, ", ")
}

// Commit returns a definition with another storage version: that of the new definition after an
// upgrade, that of the old one before a rollback. Objects keep their stored version until they are
// written again.
func Commit(applied *Definition, storage string) (*Definition, error) {
	if versionOf(applied, storage) == nil {
		return nil, fmt.Errorf("cannot change the storage version of %s: it has no version %s", applied.Name, storage)
	}
	committed := applied.DeepCopy()
	setStorage(committed, storage)
	return committed, nil
}

func setStorage(crd *Definition, version string) {
	for i := range crd.Spec.Versions {
		crd.Spec.Versions[i].Storage = crd.Spec.Versions[i].Name == version
	}
}
