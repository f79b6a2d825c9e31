package install

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// MinKubernetes is the first version of Kubernetes that supports everything in the manifests.
const MinKubernetes = "1.31"

// pollInterval is the interval at which Refit polls objects while it waits for a change.
const pollInterval = 200 * time.Millisecond

// Cluster is a cluster in which Refit is installed.
type Cluster struct {
	objects dynamic.Interface
	client  kubernetes.Interface
}

// New returns a Cluster that acts with the credentials of a client configuration, which it copies.
func New(config *rest.Config) (*Cluster, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst, config.RateLimiter = 50, 100, nil
	config.WarningHandler = rest.NoWarnings{}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("cannot create a client: %w", err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("cannot create a client: %w", err)
	}
	return &Cluster{objects: objects, client: client}, nil
}

func (c *Cluster) at(ref Ref) dynamic.ResourceInterface {
	if ref.Namespace == "" {
		return c.objects.Resource(ref.gvr())
	}
	return c.objects.Resource(ref.gvr()).Namespace(ref.Namespace)
}

// get returns an object, or nil if it does not exist or the API server does not serve its kind.
func (c *Cluster) get(ctx context.Context, ref Ref) (*unstructured.Unstructured, error) {
	found, err := c.at(ref).Get(ctx, ref.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot get %s: %w", ref, err)
	}
	return found, nil
}

// checkVersion fails if Kubernetes is too old for the manifests.
func (c *Cluster) checkVersion(ctx context.Context) error {
	raw, err := c.client.Discovery().RESTClient().Get().AbsPath("/version").Do(ctx).Raw()
	if apierrors.IsForbidden(err) {
		return nil // the API server rejects objects that it does not know
	}
	var info struct {
		GitVersion string `json:"gitVersion"`
	}
	if err == nil {
		err = json.Unmarshal(raw, &info)
	}
	if err != nil {
		return fmt.Errorf("cannot get the version of Kubernetes: %w", err)
	}
	v, err := version.ParseGeneric(info.GitVersion)
	if err == nil && v.LessThan(version.MustParseGeneric(MinKubernetes)) {
		return fmt.Errorf("the cluster runs Kubernetes %s, but Refit requires %s or later", info.GitVersion, MinKubernetes)
	}
	return nil
}

// until polls until holds returns true or the context ends. An API server that is busy or restarts
// does not end the wait, which reports it.
func until(ctx context.Context, what string, every time.Duration, callbacks Callbacks, holds func() (bool, error)) error {
	server := &reach{callbacks: callbacks}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		done, err := holds()
		if done || (err != nil && ctx.Err() == nil && !transient(err)) {
			return err
		}
		server.observe(ctx, err)
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, errors.Join(context.Cause(ctx), err))
		case <-tick.C:
		}
	}
}

// transient reports whether a request may succeed later: the API server was unreachable, or it
// responded that it cannot serve the request now.
func transient(err error) bool {
	status, responded := errors.AsType[*apierrors.StatusError](err)
	if !responded {
		return true
	}
	code := status.Status().Code
	return code == http.StatusTooManyRequests || code >= http.StatusInternalServerError
}
