package install

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// oldest is the first version of Kubernetes that has everything in the manifests.
const oldest = "1.31"

// settleEvery is how often something is looked at that tells nobody when it is done.
const settleEvery = 200 * time.Millisecond

// Cluster is one that Refit is brought into.
type Cluster struct {
	objects dynamic.Interface
	client  kubernetes.Interface
}

// New acts with the credentials of a client configuration, which it copies.
func New(config *rest.Config) (*Cluster, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst, config.RateLimiter = 50, 100, nil
	config.WarningHandler = rest.NoWarnings{}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return &Cluster{objects: objects, client: client}, nil
}

func (c *Cluster) at(ref Ref) dynamic.ResourceInterface {
	if ref.Namespace == "" {
		return c.objects.Resource(ref.gvr())
	}
	return c.objects.Resource(ref.gvr()).Namespace(ref.Namespace)
}

// get is an object, or nil if it is not there. Neither is one of a kind that is not served.
func (c *Cluster) get(ctx context.Context, ref Ref) (*unstructured.Unstructured, error) {
	found, err := c.at(ref).Get(ctx, ref.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", ref, err)
	}
	return found, nil
}

// refuseOld refuses a cluster that would not understand what is installed.
func (c *Cluster) refuseOld(ctx context.Context) error {
	raw, err := c.client.Discovery().RESTClient().Get().AbsPath("/version").Do(ctx).Raw()
	if apierrors.IsForbidden(err) {
		return nil // the server itself refuses what it does not know
	}
	var said struct {
		GitVersion string `json:"gitVersion"`
	}
	if err == nil {
		err = json.Unmarshal(raw, &said)
	}
	if err != nil {
		return fmt.Errorf("asking for the version: %w", err)
	}
	v, err := version.ParseGeneric(said.GitVersion)
	if err == nil && v.LessThan(version.MustParseGeneric(oldest)) {
		return fmt.Errorf("the cluster is at %s, and Refit needs Kubernetes %s or newer", said.GitVersion, oldest)
	}
	return nil
}

// until looks again and again until something holds, or the context ends.
func until(ctx context.Context, what string, every time.Duration, holds func() (bool, error)) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		done, err := holds()
		if done || (err != nil && ctx.Err() == nil) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, errors.Join(context.Cause(ctx), err))
		case <-tick.C:
		}
	}
}
