package helm

import (
	"slices"

	release "helm.sh/helm/v4/pkg/release/v1"
)

// guard returns a DeletionError if Helm would delete an object that is not approved. Helm deletes
// what the old revision has and the new one does not, except for live objects that are to be kept.
func (s *session) guard(from *release.Release, to []Object, approved []Ref) error {
	objects, err := objectsOf(from.Manifest, "", s.Namespace)
	if err != nil {
		return err
	}
	stays, may := refsOf(to), refSet(approved)
	var refused []Ref
	for _, object := range objects {
		if stays[object.Ref] || may[object.Ref] && !object.isCRD() {
			continue
		}
		found, err := s.live(object.Ref)
		if err != nil {
			return err
		}
		if found != nil && !kept(found) {
			refused = append(refused, object.Ref)
		}
	}
	if len(refused) > 0 {
		slices.SortFunc(refused, compareRefs)
		return &DeletionError{Objects: refused}
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
