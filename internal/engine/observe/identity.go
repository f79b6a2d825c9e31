package observe

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/version"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

const kubeSystem = metav1.NamespaceSystem

// systemNamespaces are the namespaces of the cluster itself: denied writes in them stop nodes and
// controllers.
var systemNamespaces = []string{kubeSystem, "kube-node-lease"}

// readVersion reads the version of the endpoint. It comes first: without a response there is
// nothing to read.
func (obs *observation) readVersion(ctx context.Context) error {
	obs.report("version of the API server")
	var info version.Info
	err := getJSON(ctx, obs.raw.Get().AbsPath("/version").SetHeader("Accept", runtime.ContentTypeJSON), &info)
	switch {
	case apierrors.IsForbidden(err): // the API servers themselves may report it
		obs.addGap(cluster.PartEndpoint, "version", requestFailed(apiRequest{"get", "/version", ""}, err))
		return nil
	case err != nil:
		return fmt.Errorf("cannot query the API at %s: %w; check the address and the credentials in your kubeconfig", obs.host.Host, err)
	case info.GitVersion == "":
		return fmt.Errorf("the server at %s is not a Kubernetes API: it returned no version; check the address in your kubeconfig", obs.host.Host)
	}
	obs.snapshot.Version = info.GitVersion
	return nil
}

// readNamespaces reads the labels of the system namespaces and the UID of the cluster.
func (obs *observation) readNamespaces(ctx context.Context) error {
	var failed []error
	for _, name := range systemNamespaces {
		found, err := obs.client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			failed = append(failed, requestFailed(apiRequest{"get", "namespace " + name, ""}, err))
			continue
		}
		obs.namespaces[name] = labels.Set(found.Labels)
		if name == kubeSystem {
			obs.snapshot.UID = string(found.UID)
		}
	}
	return errors.Join(failed...)
}

// errNotInstalled is returned if the API does not serve Refit's objects.
var errNotInstalled = errors.New("the cluster does not serve Refit's objects; run `refit install` to install them and the agents")

// readRefit checks whether the API serves Refit's objects.
func (obs *observation) readRefit(ctx context.Context) error {
	path := "/apis/" + refitv1alpha1.GroupVersion.String()
	err := obs.raw.Get().AbsPath(path).Do(ctx).Error()
	switch {
	case err == nil:
		obs.snapshot.Installed = true
		return nil
	case apierrors.IsNotFound(err):
		obs.refit = errNotInstalled // the readers of its objects return it for their parts
		return nil
	default:
		obs.refit = requestFailed(apiRequest{"get", path, ""}, err)
		return nil
	}
}

// refitPath returns the path of a resource of Refit.
func refitPath(resource string) string {
	return "/apis/" + refitv1alpha1.GroupVersion.String() + "/" + resource
}

// refitResource returns the name of a resource of Refit in RBAC.
func refitResource(resource string) string {
	return resource + "." + refitv1alpha1.GroupVersion.Group
}
