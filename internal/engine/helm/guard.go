package helm

import (
	"maps"
	"slices"

	release "helm.sh/helm/v4/pkg/release/v1"
)

// guard returns a DeletionError if Helm would delete an object that is not approved, or that now
// belongs to another release. Helm deletes what the old revision has and the new one does not,
// except for live objects that are to be kept.
func (s *session) guard(from *release.Release, to []Object, approved []Ref) error {
	objects, err := objectsOf(from.Manifest, "", s.Namespace)
	if err != nil {
		return err
	}
	gone, may := refsOf(objects), refSet(approved)
	for _, object := range to {
		if err := s.exclude(gone, object.Ref); err != nil {
			return err
		}
	}
	var refused []Ref
	for _, ref := range slices.SortedFunc(maps.Keys(gone), compareRefs) {
		found, err := s.live(ref)
		if err != nil {
			return err
		}
		if found == nil || kept(found) {
			continue
		}
		if !may[ref] || ref.isCRD() || s.foreign(found) {
			refused = append(refused, ref)
		}
	}
	if len(refused) > 0 {
		return &DeletionError{Objects: refused}
	}
	return nil
}

// exclude removes an object from a set. Charts set the namespace of objects that have none, such as
// ClusterRoles; it is the same object then, whichever namespace another version gives it.
func (s *session) exclude(refs map[Ref]bool, object Ref) error {
	delete(refs, object)
	for ref := range refs {
		if ref.Group != object.Group || ref.Kind != object.Kind || ref.Name != object.Name {
			continue
		}
		scoped, err := s.namespaced(ref)
		if err != nil {
			return err
		}
		if !scoped {
			delete(refs, ref)
		}
	}
	return nil
}

func refSet(refs []Ref) map[Ref]bool {
	set := make(map[Ref]bool, len(refs))
	for _, ref := range refs {
		set[ref] = true
	}
	return set
}
