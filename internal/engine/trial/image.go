package trial

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The DaemonSet that installs agents.
const (
	agentNamespace = "refit-agent"
	agentName      = "refit-agent"
)

// ErrNoImage is the error of a cluster without that DaemonSet, whose agents were installed by hand:
// there is no image for the Pod.
var ErrNoImage = errors.New("no agent image in the cluster")

// source is the image of the agents, and the names of the Secrets that it is pulled with. The
// kubelet demands them also for an image that is on the node (KubeletEnsureSecretPulledImages).
type source struct {
	image       string
	pullSecrets []corev1.LocalObjectReference
}

// source is read each time: an installation may have changed it.
func (r *Runner) source(ctx context.Context) (source, error) {
	set, err := r.client.AppsV1().DaemonSets(agentNamespace).Get(ctx, agentName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return source{}, ErrNoImage
	case err != nil:
		return source{}, verdict(fmt.Errorf("cannot get the image of the agents: %w", err))
	case len(set.Spec.Template.Spec.Containers) == 0:
		return source{}, ErrNoImage
	}
	pod := &set.Spec.Template.Spec
	secrets, err := r.pullSecrets(ctx, pod)
	return source{image: pod.Containers[0].Image, pullSecrets: secrets}, err
}

// pullSecrets returns the names of the Secrets with which the image of a Pod is pulled: its own, or
// else those of its ServiceAccount, as the API server adds them. Without permission there are none.
func (r *Runner) pullSecrets(ctx context.Context, pod *corev1.PodSpec) ([]corev1.LocalObjectReference, error) {
	if len(pod.ImagePullSecrets) > 0 || pod.ServiceAccountName == "" {
		return pod.ImagePullSecrets, nil
	}
	account, err := r.client.CoreV1().ServiceAccounts(agentNamespace).Get(ctx, pod.ServiceAccountName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("cannot get the ServiceAccount of the agents: %w", err)
	}
	return account.ImagePullSecrets, nil
}
