package helm

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// resource returns the client of an object, or nil if the cluster does not have its kind.
func (s *session) resource(ref Ref) (dynamic.ResourceInterface, error) {
	mapping, err := s.getter.mapper.RESTMapping(schema.GroupKind{Group: ref.Group, Kind: ref.Kind})
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot find the kind of %s: %w", ref, err)
	}
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return s.dynamic.Resource(mapping.Resource), nil
	}
	namespace := ref.Namespace
	if namespace == "" {
		namespace = s.Namespace
	}
	return s.dynamic.Resource(mapping.Resource).Namespace(namespace), nil
}

// namespaced reports whether objects of a kind have namespaces. Those of an unknown kind have.
func (s *session) namespaced(ref Ref) (bool, error) {
	mapping, err := s.getter.mapper.RESTMapping(schema.GroupKind{Group: ref.Group, Kind: ref.Kind})
	if meta.IsNoMatchError(err) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("cannot find the kind of %s: %w", ref, err)
	}
	return mapping.Scope.Name() != meta.RESTScopeNameRoot, nil
}

// live returns an object, or nil if it does not exist.
func (s *session) live(ref Ref) (*unstructured.Unstructured, error) {
	client, err := s.resource(ref)
	if client == nil || err != nil {
		return nil, err
	}
	found, err := client.Get(s.ctx, ref.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot get %s: %w", ref, err)
	}
	return found, nil
}

// removable returns the object if it is marked as the release's, is not a CRD, is not kept and is
// not being deleted.
func (s *session) removable(ref Ref) (*unstructured.Unstructured, error) {
	if ref.isCRD() {
		return nil, nil
	}
	found, err := s.live(ref)
	if err != nil || found == nil || !s.owns(found) || kept(found) || found.GetDeletionTimestamp() != nil {
		return nil, err
	}
	return found, nil
}

// remove deletes an object if it is removable.
func (s *session) remove(ref Ref) (bool, error) {
	found, err := s.removable(ref)
	if err != nil || found == nil {
		return false, err
	}
	client, err := s.resource(ref)
	if client == nil || err != nil {
		return false, err
	}
	uid, background := found.GetUID(), metav1.DeletePropagationBackground
	err = client.Delete(s.ctx, ref.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}, PropagationPolicy: &background})
	if err != nil && !apierrors.IsNotFound(err) {
		return false, fmt.Errorf("cannot delete %s: %w", ref, err)
	}
	return true, nil
}

func kept(live *unstructured.Unstructured) bool {
	return live.GetAnnotations()[policyAnnotation] == policyKeep
}
