package crd

import (
	"context"
	"fmt"

	apiextensionsclient "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// maxConflicts bounds how often a write is repeated because somebody else wrote at the same time.
const maxConflicts = 10

// Actor reads and changes CRDs and their objects. Each action can be repeated: it determines from
// the cluster what an earlier try has done.
type Actor struct {
	definitions apiextensionsclient.CustomResourceDefinitionInterface
	objects     dynamic.Interface
	metadata    metadata.Interface
	core        kubernetes.Interface
	config      *rest.Config
	manager     string
}

// NewActor returns an actor. The transport of the configuration is the caller's, so that it can
// close with the lease of the leader; manager is the field manager of all writes.
func NewActor(config *rest.Config, manager string) (*Actor, error) {
	config = rest.CopyConfig(config)
	if config.QPS == 0 {
		config.QPS = -1 // the API server limits clients fairly; the default takes an hour for 20,000 objects
	}
	a := &Actor{config: config, manager: manager}
	definitions, err := apiextensionsclient.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("cannot create a client: %w", err)
	}
	a.definitions = definitions.CustomResourceDefinitions()
	if a.objects, err = dynamic.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("cannot create a client: %w", err)
	}
	if a.metadata, err = metadata.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("cannot create a client: %w", err)
	}
	if a.core, err = kubernetes.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("cannot create a client: %w", err)
	}
	return a, nil
}

// Definitions returns the live CRDs of these names. Those that do not exist are missing.
func (a *Actor) Definitions(ctx context.Context, names ...string) (map[string]*Definition, error) {
	found := make(map[string]*Definition, len(names))
	for _, name := range names {
		live, err := a.live(ctx, name)
		if err != nil {
			return nil, err
		}
		if live != nil {
			found[name] = live
		}
	}
	return found, nil
}

// live returns a CRD, or nil if it does not exist.
func (a *Actor) live(ctx context.Context, name string) (*Definition, error) {
	live, err := a.definitions.Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil //nolint:nilnil // no CRD is no error
	case err != nil:
		return nil, fmt.Errorf("cannot read the CRD %s: %w", name, err)
	}
	return live, nil
}

// update replaces a CRD by what next returns for the live one, which is nil if nothing is to be
// written. The UID and resourceVersion of the live one guard the write: if somebody else writes at
// the same time, next decides again.
func (a *Actor) update(ctx context.Context, name string, next func(live *Definition) (*Definition, error)) error {
	for range maxConflicts {
		live, err := a.live(ctx, name)
		if err != nil {
			return err
		}
		desired, err := next(live)
		if apierrors.IsConflict(err) {
			continue
		}
		if err != nil || desired == nil {
			return err
		}
		_, err = a.definitions.Update(ctx, desired, metav1.UpdateOptions{FieldManager: a.manager})
		if !apierrors.IsConflict(err) {
			return wrap(err, "cannot update the CRD %s", name)
		}
	}
	return fmt.Errorf("cannot update the CRD %s: others change it all the time", name)
}

func resourceOf(crd *Definition, version string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: crd.Spec.Group, Version: version, Resource: crd.Spec.Names.Plural}
}

func wrap(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), err)
}
