package helm

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// fieldManager owns the annotation that keeps a CRD, so that no apply of Helm removes it.
const fieldManager = "refit"

// KeepCRDs annotates the live CRDs of all revisions and of a new rendering, so that Helm does not
// delete them. It returns the names of the CRDs that exist.
func (c *Client) KeepCRDs(ctx context.Context, rendering Rendering) ([]string, error) {
	s, err := c.open(ctx, Mark{})
	if err != nil {
		return nil, fmt.Errorf("cannot keep CRDs: %w", err)
	}
	refs, err := s.crds(rendering)
	if err != nil {
		return nil, fmt.Errorf("cannot keep CRDs: %w", err)
	}
	var names []string
	for _, ref := range refs {
		exists, err := s.keep(ref)
		if err != nil {
			return nil, fmt.Errorf("cannot keep CRDs: %w", err)
		}
		if exists {
			names = append(names, ref.Name)
		}
	}
	return names, nil
}

// crds returns the CRDs of all revisions and of a rendering.
func (s *session) crds(rendering Rendering) ([]Ref, error) {
	history, err := s.history()
	if err != nil {
		return nil, err
	}
	found := refsOf(rendering.CRDs)
	for _, r := range history {
		record, err := recordOf(r)
		if err != nil {
			return nil, err
		}
		maps.Copy(found, refsOf(record.CRDs))
		if r.Chart == nil {
			continue
		}
		for _, file := range r.Chart.CRDObjects() {
			objects, err := objectsOf(string(file.File.Data), file.Filename, s.Namespace)
			if err != nil {
				return nil, err
			}
			maps.Copy(found, refsOf(objects))
		}
	}
	return slices.SortedFunc(maps.Keys(found), compareRefs), nil
}

func (s *session) keep(ref Ref) (exists bool, err error) {
	if !ref.isCRD() {
		return false, nil
	}
	live, err := s.live(ref)
	if live == nil || err != nil {
		return false, err
	}
	return true, s.annotateKept(ref, live)
}

// annotateKept annotates a live object so that Helm does not delete it.
func (s *session) annotateKept(ref Ref, live *unstructured.Unstructured) error {
	if kept(live) {
		return nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": live.GetUID(), "annotations": map[string]string{policyAnnotation: policyKeep},
	}})
	if err != nil {
		return err
	}
	client, err := s.resource(ref)
	if client == nil || err != nil {
		return err
	}
	if _, err := client.Patch(s.ctx, ref.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager}); err != nil {
		return fmt.Errorf("cannot annotate %s: %w", ref, err)
	}
	return nil
}
