package crd

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

const (
	serveInterval = 100 * time.Millisecond
	// serveTimeout is how long all API servers may take to serve a CRD. It exceeds the time after
	// which an API server that is down is no longer an endpoint.
	serveTimeout = 2 * time.Minute
	// serveTimes is how often in a row all API servers must serve a CRD: each has separate caches
	// for discovery and for requests.
	serveTimes = 2
	apiServers = "kubernetes" // the Service of the API servers
)

// serve waits until CRDs are established and all API servers serve their versions and write objects
// in their storage version. It fails if the caller's context ends, or after two minutes.
func (a *Actor) serve(ctx context.Context, names ...string) error {
	ctx, cancel := context.WithTimeout(ctx, serveTimeout)
	defer cancel()
	last, served := errNotServed, 0
	err := wait.PollUntilContextCancel(ctx, serveInterval, true, func(ctx context.Context) (bool, error) {
		if last = a.allServed(ctx, names); last != nil {
			served = 0
		} else {
			served++
		}
		return served >= serveTimes, nil
	})
	if err != nil {
		return fmt.Errorf("cannot wait for CRDs: %w", errors.Join(err, last))
	}
	return nil
}

func (a *Actor) allServed(ctx context.Context, names []string) error {
	for _, name := range names {
		if err := a.served(ctx, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// served returns why a CRD is not served yet.
func (a *Actor) served(ctx context.Context, name string) error {
	live, err := a.live(ctx, name)
	switch {
	case err != nil:
		return err
	case live == nil:
		return &ChangedError{Name: name, Cause: "somebody else has deleted it"}
	}
	for _, condition := range []apiextensionsv1.CustomResourceDefinitionConditionType{apiextensionsv1.NamesAccepted, apiextensionsv1.Established} {
		if err := conditionOf(live, condition); err != nil {
			return err
		}
	}
	servers, err := a.servers(ctx)
	if err != nil {
		return err
	}
	for _, server := range servers {
		if err := servedBy(ctx, server, live); err != nil {
			return fmt.Errorf("%w: %s: %w", errNotServed, server.Host, err)
		}
	}
	return nil
}

func conditionOf(crd *Definition, kind apiextensionsv1.CustomResourceDefinitionConditionType) error {
	for _, condition := range crd.Status.Conditions {
		if condition.Type == kind && condition.Status == apiextensionsv1.ConditionTrue {
			return nil
		}
		if condition.Type == kind {
			return fmt.Errorf("%s is %s: %s", kind, condition.Status, condition.Message)
		}
	}
	return fmt.Errorf("%s is unknown", kind)
}

// servers returns a configuration for each API server: the Service connects to one of them only.
// API servers without an endpoint are reached with the caller's configuration.
func (a *Actor) servers(ctx context.Context) ([]*rest.Config, error) {
	slicesOf := metav1.ListOptions{LabelSelector: discoveryv1.LabelServiceName + "=" + apiServers}
	list, err := a.core.DiscoveryV1().EndpointSlices(metav1.NamespaceDefault).List(ctx, slicesOf)
	if err != nil {
		return nil, fmt.Errorf("cannot list the endpoints of the API servers: %w", err)
	}
	var servers []*rest.Config
	for i := range list.Items {
		slice := &list.Items[i]
		for j := range slice.Endpoints {
			for _, address := range slice.Endpoints[j].Addresses {
				if len(slice.Ports) == 0 || slice.Ports[0].Port == nil || !ready(slice.Endpoints[j]) {
					continue
				}
				config := rest.CopyConfig(a.config)
				config.Host = "https://" + net.JoinHostPort(address, strconv.Itoa(int(*slice.Ports[0].Port)))
				servers = append(servers, config)
			}
		}
	}
	if len(servers) == 0 {
		servers = append(servers, a.config)
	}
	return servers, nil
}

// servedBy returns why an API server does not serve a CRD as it is defined.
func servedBy(ctx context.Context, server *rest.Config, crd *Definition) error {
	client, err := discovery.NewDiscoveryClientForConfig(server)
	if err != nil {
		return err
	}
	for i := range crd.Spec.Versions {
		version := &crd.Spec.Versions[i]
		resources, err := client.ServerResourcesForGroupVersionWithContext(ctx, crd.Spec.Group+"/"+version.Name)
		if apierrors.IsNotFound(err) {
			resources, err = &metav1.APIResourceList{}, nil
		}
		if err != nil {
			return err
		}
		if err := servedAs(crd, version, resources); err != nil {
			return err
		}
	}
	return nil
}

// servedAs returns why a version of a CRD is not served as it is defined.
func servedAs(crd *Definition, version *apiextensionsv1.CustomResourceDefinitionVersion, resources *metav1.APIResourceList) error {
	found := false
	for i := range resources.APIResources {
		resource := &resources.APIResources[i]
		if resource.Name != crd.Spec.Names.Plural {
			continue
		}
		found = true
		if storage := StorageVersion(crd); serves(crd, storage) && resource.StorageVersionHash != storageHash(crd, storage) {
			return fmt.Errorf("objects are not stored in version %s yet", storage)
		}
	}
	if found != version.Served {
		return fmt.Errorf("version %s is served: %v", version.Name, found)
	}
	return nil
}

// storageHash returns how discovery identifies the storage version of a CRD.
func storageHash(crd *Definition, version string) string {
	sum := sha256.Sum256([]byte(crd.Spec.Group + "/" + version + "/" + crd.Spec.Names.Kind))
	return base64.StdEncoding.EncodeToString(sum[:8])
}
