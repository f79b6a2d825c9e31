package install

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/etcdbackup"
)

// AddBackups creates the namespace for the credentials of BackupStores and the BackupStore for the
// disks of control plane hosts, if they do not exist. It never changes them: their owner may have
// chosen other recipients. They are not in the inventory, so Remove leaves the credentials; the
// BackupStore is deleted with its CRD.
func (c *Cluster) AddBackups(ctx context.Context, recipients []string) ([]Change, error) {
	objects, err := RenderBackups(recipients)
	if err != nil {
		return nil, err
	}
	var out []Change
	for _, object := range objects {
		change, err := c.addMissing(ctx, object)
		if err != nil {
			return out, err
		}
		out = append(out, change)
	}
	return out, nil
}

// RenderBackups builds the objects of AddBackups.
func RenderBackups(recipients []string) ([]*unstructured.Unstructured, error) {
	namespace := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": kindNamespace, "metadata": map[string]any{"name": refitv1alpha1.BackupNamespace},
	}}
	store, err := runtime.DefaultUnstructuredConverter.ToUnstructured(etcdbackup.NewLocalStore(recipients))
	if err != nil {
		return nil, fmt.Errorf("cannot encode the BackupStore: %w", err)
	}
	return []*unstructured.Unstructured{namespace, {Object: store}}, nil
}

// addMissing creates an object if there is none of its name.
func (c *Cluster) addMissing(ctx context.Context, object *unstructured.Unstructured) (Change, error) {
	ref := Ref{APIVersion: "v1", Resource: "namespaces", Name: object.GetName(), Kind: kindNamespace}
	if object.GetKind() != kindNamespace {
		ref = Ref{APIVersion: object.GetAPIVersion(), Resource: "backupstores", Name: object.GetName(), Kind: object.GetKind()}
	}
	_, err := c.at(ref).Create(ctx, object, metav1.CreateOptions{FieldManager: fieldManager})
	switch {
	case apierrors.IsAlreadyExists(err):
		return Change{Ref: ref, Action: Unchanged}, nil
	case err != nil:
		return Change{}, fmt.Errorf("cannot create %s: %w", ref, err)
	}
	return Change{Ref: ref, Action: Created}, nil
}
