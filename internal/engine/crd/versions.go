package crd

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Definition is a CustomResourceDefinition.
type Definition = apiextensionsv1.CustomResourceDefinition

// StorageVersion returns the version in which the API server writes objects.
func StorageVersion(crd *Definition) string {
	for i := range crd.Spec.Versions {
		if crd.Spec.Versions[i].Storage {
			return crd.Spec.Versions[i].Name
		}
	}
	return ""
}

// storedVersions returns the versions in which objects may be stored. A definition without status
// is a manifest: its storage version is the only one that is known.
func storedVersions(crd *Definition) []string {
	if stored := crd.Status.StoredVersions; len(stored) > 0 {
		return stored
	}
	return []string{StorageVersion(crd)}
}

// VersionsToRead returns the versions in which the live objects are to be read before a change.
// With a webhook each version has its own content, and only the webhook can convert it. Without
// one, the storage version shows all fields, and so does each other version in which objects may be
// stored that has fields of its own: the API server hides the fields that a version lacks.
func VersionsToRead(change Change) []string {
	if !usesWebhook(change.Old) && !usesWebhook(change.New) {
		if stored := storedAndServed(change.Old); len(stored) > 0 {
			return stored
		}
		return anyServed(change.Old)
	}
	var both []string
	storage := StorageVersion(change.Old)
	for i := range change.Old.Spec.Versions {
		v := &change.Old.Spec.Versions[i]
		if !v.Served || versionOf(change.New, v.Name) == nil {
			continue
		}
		if v.Name == storage {
			both = append([]string{v.Name}, both...)
		} else {
			both = append(both, v.Name)
		}
	}
	if len(both) > 0 {
		return both
	}
	return anyServed(change.Old)
}

// storedAndServed returns the storage version and the other versions in which objects may be
// stored, as far as they are served and have fields of their own.
func storedAndServed(crd *Definition) []string {
	storage := StorageVersion(crd)
	var versions []string
	if serves(crd, storage) {
		versions = append(versions, storage)
	}
	for _, version := range storedVersions(crd) {
		if version == storage || !serves(crd, version) {
			continue
		}
		if own, err := missingFields(crd, version, storage); err != nil || len(own) > 0 || len(versions) == 0 {
			versions = append(versions, version)
		}
	}
	return versions
}

// ServedVersion returns a version in which the API server serves objects, empty if there is none.
func ServedVersion(crd *Definition) string {
	for _, version := range anyServed(crd) {
		return version
	}
	return ""
}

func anyServed(crd *Definition) []string {
	for i := range crd.Spec.Versions {
		if crd.Spec.Versions[i].Served {
			return []string{crd.Spec.Versions[i].Name}
		}
	}
	return nil
}

func versionOf(crd *Definition, name string) *apiextensionsv1.CustomResourceDefinitionVersion {
	for i := range crd.Spec.Versions {
		if crd.Spec.Versions[i].Name == name {
			return &crd.Spec.Versions[i]
		}
	}
	return nil
}

// Serves reports whether a CRD serves a version.
func Serves(crd *Definition, version string) bool { return serves(crd, version) }

func serves(crd *Definition, name string) bool {
	v := versionOf(crd, name)
	return v != nil && v.Served
}

func usesWebhook(crd *Definition) bool {
	return crd.Spec.Conversion != nil && crd.Spec.Conversion.Strategy == apiextensionsv1.WebhookConverter
}

// usedVersions returns the versions of the new definition in which objects are written or read: its
// storage version, each other one that is served, and those in which etcd holds objects.
func usedVersions(change Change) []string {
	storage := StorageVersion(change.New)
	var used []string
	if storage != "" {
		used = append(used, storage)
	}
	for i := range change.New.Spec.Versions {
		v := &change.New.Spec.Versions[i]
		if v.Name != storage && (v.Served || slices.Contains(storedVersions(change.Old), v.Name)) {
			used = append(used, v.Name)
		}
	}
	return used
}
