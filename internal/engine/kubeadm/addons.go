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

// Addons says which of kubeadm's addons a cluster has.
type Addons struct {
	CoreDNS   bool `json:"coreDNS"`
	KubeProxy bool `json:"kubeProxy"`
}

// ReadAddons looks which addons are there, under the names that kubeadm gives them. Where somebody runs another CoreDNS, or a network without
// kube-proxy, kubeadm would put its own beside it.
func ReadAddons(ctx context.Context, client kubernetes.Interface) (Addons, error) {
	_, dns := client.AppsV1().Deployments(metav1.NamespaceSystem).Get(ctx, coreDNS, metav1.GetOptions{})
	if dns != nil && !apierrors.IsNotFound(dns) {
		return Addons{}, apiFailure(dns, "looking for the addon CoreDNS")
	}
	_, proxy := client.AppsV1().DaemonSets(metav1.NamespaceSystem).Get(ctx, kubeProxy, metav1.GetOptions{})
	if proxy != nil && !apierrors.IsNotFound(proxy) {
		return Addons{}, apiFailure(proxy, "looking for the addon kube-proxy")
	}
	return Addons{CoreDNS: dns == nil, KubeProxy: proxy == nil}, nil
}

// Skip lists the phases that would bring back what is not there, for RunPhase.
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

// WaitMirror waits until the API shows this node's API server with the image that its manifest names. kubeadm's addon phase takes that image as
// what all others must have: with a stale one it would find every API server alike, and upgrade the addons while some are old.
func WaitMirror(ctx context.Context, client kubernetes.Interface, nodeName string, manifest []byte) error {
	want, err := Parse(manifest)
	if err != nil {
		return err
	}
	shown := "nothing"
	err = wait.PollUntilContextCancel(ctx, time.Second/4, true, func(ctx context.Context) (bool, error) {
		pod, err := client.CoreV1().Pods(metav1.NamespaceSystem).Get(ctx, want.Component+"-"+nodeName, metav1.GetOptions{})
		if err != nil || len(pod.Spec.Containers) == 0 {
			return false, nil //nolint:nilerr // asked again until the context ends
		}
		shown = pod.Spec.Containers[0].Image
		return shown == want.Image, nil
	})
	if err != nil {
		return node.Transient("MirrorPodStale", err, "see the kubelet's log on this host: it writes this pod to the API",
			"the API shows %s for %s on %s, its manifest says %s", shown, want.Component, nodeName, want.Image)
	}
	return nil
}

// apiFailure is an error of the API, told for a person.
func apiFailure(err error, format string, args ...any) error {
	what := fmt.Sprintf(format, args...)
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsInvalid(err) {
		return node.ManualIntervention("APIDenied", err, "see what the kubeconfig on this host may do"+thenRetry, "%s", what)
	}
	return node.Transient("APIUnavailable", err, "it is tried again; see that the API server and etcd are well", "%s", what)
}
