package helm

import (
	"slices"

	release "helm.sh/helm/v4/pkg/release/v1"
)

// guard returns a DeletionError if Helm would delete an object that is not approved, or that belongs
// to another release by now. Helm deletes what the old revision has and the new one does not, except
// for live objects that are to be kept. The new objects must be aligned with the old ones first.
func (s *session) guard(from, to, approved []Ref) error {
	stays, may := refSet(to), refSet(approved)
	var refused []Ref
	for _, ref := range from {
		if stays[ref] {
			continue
		}
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
		slices.SortFunc(refused, compareRefs)
		return &DeletionError{Objects: refused}
	}
	return nil
}

// alignAndGuard prepares what Helm compares: the objects of a revision, and new ones.
func (s *session) alignAndGuard(from *release.Release, to []Object, approved []Ref) ([]Object, error) {
	old, err := objectsOf(from.Manifest, "", s.Namespace)
	if err != nil {
		return nil, err
	}
	if to, err = s.align(old, to); err != nil {
		return nil, err
	}
	return to, s.guard(listOf(old), listOf(to), approved)
}

// align returns new objects with the namespaces of old ones, where those do not matter. Charts set
// the namespace of objects that have none, such as ClusterRoles. If only one version does, Helm
// compares two objects: it changes the one and then deletes the other, which is the same.
func (s *session) align(old, to []Object) ([]Object, error) {
	type key struct{ group, kind, name string }
	namespaces := map[key]string{}
	for _, object := range old {
		namespaces[key{object.Group, object.Kind, object.Name}] = object.Content.GetNamespace()
	}
	aligned := make([]Object, 0, len(to))
	for _, object := range to {
		namespace, known := namespaces[key{object.Group, object.Kind, object.Name}]
		if known && namespace != object.Content.GetNamespace() {
			scoped, err := s.namespaced(object.Ref)
			if err != nil {
				return nil, err
			}
			if !scoped {
				object.Content = object.Content.DeepCopy()
				object.Content.SetNamespace(namespace)
				object.Namespace = relative(namespace, s.Namespace)
			}
		}
		aligned = append(aligned, object)
	}
	return aligned, nil
}

func listOf(objects []Object) []Ref {
	refs := make([]Ref, 0, len(objects))
	for _, object := range objects {
		refs = append(refs, object.Ref)
	}
	return refs
}

func refSet(refs []Ref) map[Ref]bool {
	set := make(map[Ref]bool, len(refs))
	for _, ref := range refs {
		set[ref] = true
	}
	return set
}
