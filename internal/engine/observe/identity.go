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

// systemNamespaces are those that the cluster itself lives in: who refuses writes there stops nodes and controllers.
var systemNamespaces = []string{kubeSystem, "kube-node-lease"}

// readVersion asks the endpoint for its version. It comes first, because without an answer there is nothing to read.
func (g *gathering) readVersion(ctx context.Context) error {
	g.tell("the API server's version")
	var said version.Info
	err := getJSON(ctx, g.raw.Get().AbsPath("/version").SetHeader("Accept", runtime.ContentTypeJSON), &said)
	switch {
	case apierrors.IsForbidden(err): // it is an API, and what it keeps to itself here may be told by its servers
		g.missed(cluster.PartEndpoint, "version", asked(question{"get", "/version", ""}, err))
		return nil
	case err != nil:
		return fmt.Errorf("the API at %s cannot be asked: %w; check the address and the credentials in your kubeconfig", g.host.Host, err)
	case said.GitVersion == "":
		return fmt.Errorf("what answers at %s is no Kubernetes API: it does not tell its version; check the address in your kubeconfig", g.host.Host)
	}
	g.snapshot.Version = said.GitVersion
	return nil
}

// readNamespaces reads the labels of the system namespaces, and the cluster's identity.
func (g *gathering) readNamespaces(ctx context.Context) error {
	var failed []error
	for _, name := range systemNamespaces {
		found, err := g.client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			failed = append(failed, asked(question{"get", "namespace " + name, ""}, err))
			continue
		}
		g.namespaces[name] = labels.Set(found.Labels)
		if name == kubeSystem {
			g.snapshot.UID = string(found.UID)
		}
	}
	return errors.Join(failed...)
}

// errNotInstalled is that the API does not serve Refit's objects.
var errNotInstalled = errors.New("the cluster does not have Refit's objects; `refit install` brings them and the nodes' agents")

// readRefit finds out whether Refit's own objects are served.
func (g *gathering) readRefit(ctx context.Context) error {
	path := "/apis/" + refitv1alpha1.GroupVersion.String()
	err := g.raw.Get().AbsPath(path).Do(ctx).Error()
	switch {
	case err == nil:
		g.snapshot.Installed = true
		return nil
	case apierrors.IsNotFound(err):
		g.refit = errNotInstalled // which the readers of its objects say, each for its part
		return nil
	default:
		g.refit = asked(question{"get", path, ""}, err)
		return nil
	}
}

// refitPath is where Refit's own objects of a kind are.
func refitPath(resource string) string {
	return "/apis/" + refitv1alpha1.GroupVersion.String() + "/" + resource
}

// refitResource is how RBAC names them.
func refitResource(resource string) string {
	return resource + "." + refitv1alpha1.GroupVersion.Group
}
