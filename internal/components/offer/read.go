package offer

import (
	"context"
	"fmt"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/helm"
	"github.com/refit-dev/refit/internal/upgrade/component"
)

// Change is a change of a component whose offer is read.
type Change struct {
	Component refitv1alpha1.ReleaseComponent
	Action    component.Action
	// Kubernetes is the version that runs when the component changes.
	Kubernetes string
}

// Source is where the input of an offer is read from.
type Source struct {
	Config *rest.Config
	Reader client.Client // reads from the API server, never from a cache
	Helm   *helm.Client  // of the component's release
	// Chart returns the verified chart.
	Chart func(ctx context.Context) ([]byte, error)
	// Key returns the key of digests that cover values from Secrets.
	Key func(ctx context.Context) ([]byte, error)
}

// Read reads what the offer of a change depends on, with the permissions of the source.
func Read(ctx context.Context, s Source, change Change) (Input, error) {
	in := Input{Component: change.Component, Action: change.Action}
	if change.Action == component.Remove { // values do not matter, and the chart may not exist any more
		in.Capabilities.Kubernetes = change.Kubernetes
		in.Archive, _ = s.Chart(ctx) // only a warning depends on it
		err := ReadRelease(ctx, s.Reader, s.Helm, &in)
		return in, err
	}
	var err error
	if in.Archive, err = s.Chart(ctx); err != nil {
		return in, err
	}
	discover, err := discovery.NewDiscoveryClientForConfig(s.Config)
	if err != nil {
		return in, fmt.Errorf("cannot create clients: %w", err)
	}
	if in.Capabilities, err = CapabilitiesOf(discover, change.Kubernetes); err != nil {
		return in, err
	}
	var user refitv1alpha1.Component
	err = s.Reader.Get(ctx, client.ObjectKey{Name: change.Component.Name}, &user)
	if client.IgnoreNotFound(err) != nil {
		return in, fmt.Errorf("cannot get Component %s: %w", change.Component.Name, err)
	}
	in.Spec = user.Spec
	if in.User, in.Secret, err = UserValues(ctx, s.Reader, &user.Spec); err != nil {
		return in, err
	}
	if len(user.Spec.ValuesFrom) > 0 {
		if in.Key, err = s.Key(ctx); err != nil {
			return in, err
		}
	}
	err = ReadRelease(ctx, s.Reader, s.Helm, &in)
	return in, err
}
