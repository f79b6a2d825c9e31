package kubeadm

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Addons are the add-ons of kubeadm that a cluster has.
type Addons struct {
	CoreDNS   bool `json:"coreDNS"`
	KubeProxy bool `json:"kubeProxy"`
}

// ReadAddons returns which add-ons exist under the names that kubeadm uses. In a cluster with
// another DNS server or without kube-proxy, kubeadm would add its own.
func ReadAddons(ctx context.Context, client kubernetes.Interface) (Addons, error) {
	_, dns := client.AppsV1().Deployments(metav1.NamespaceSystem).Get(ctx, coreDNS, metav1.GetOptions{})
	if dns != nil && !apierrors.IsNotFound(dns) {
		return Addons{}, apiFailure(dns, "cannot get Deployment %s", coreDNS)
	}
	_, proxy := client.AppsV1().DaemonSets(metav1.NamespaceSystem).Get(ctx, kubeProxy, metav1.GetOptions{})
	if proxy != nil && !apierrors.IsNotFound(proxy) {
		return Addons{}, apiFailure(proxy, "cannot get DaemonSet %s", kubeProxy)
	}
	return Addons{CoreDNS: dns == nil, KubeProxy: proxy == nil}, nil
}

// Skip returns the phases that would create a missing add-on, for RunPhase.
func (a Addons) Skip() []string {
	var skip []string
	if !a.CoreDNS {
		skip = append(skip, PhaseAddon+"/coredns")
	}
	if !a.KubeProxy {
		skip = append(skip, PhaseAddon+"/kube-proxy")
	}
	return skip
}

// WaitMirror waits until the mirror pod of this node's API server has the image of its manifest.
// The add-on phase of kubeadm compares all API servers with that image: with a stale one it would
// upgrade the add-ons while some API servers are old.
func WaitMirror(ctx context.Context, client kubernetes.Interface, nodeName string, manifest []byte) error {
	want, err := Parse(manifest)
	if err != nil {
		return err
	}
	image := "no image"
	err = wait.PollUntilContextCancel(ctx, time.Second/4, true, func(ctx context.Context) (bool, error) {
		pod, err := client.CoreV1().Pods(metav1.NamespaceSystem).Get(ctx, want.Component+"-"+nodeName, metav1.GetOptions{})
		if err != nil || len(pod.Spec.Containers) == 0 {
			return false, nil //nolint:nilerr // polled until the context ends
		}
		image = pod.Spec.Containers[0].Image
		return image == want.Image, nil
	})
	if err != nil {
		return node.Transient("MirrorPodStale", err, "Check the log of the kubelet on this host, which writes this pod to the API",
			"the mirror pod of %s on %s has %s, but its manifest has %s", want.Component, nodeName, image, want.Image)
	}
	return nil
}

// apiFailure classifies an error of the API.
func apiFailure(err error, format string, args ...any) error {
	what := fmt.Sprintf(format, args...)
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsInvalid(err) {
		return node.ManualIntervention("APIDenied", err, "Check the permissions of the kubeconfig on this host"+thenRetry,
			"%s: the API rejects the request", what)
	}
	return node.Transient("APIUnavailable", err, "Refit retries; check that the API server and etcd are healthy", "%s", what)
}
