package trial

import (
	"context"
	"errors"
	"fmt"

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

// image returns the image of the agents. It is read each time: an installation may have changed it.
func (r *Runner) image(ctx context.Context) (string, error) {
	set, err := r.client.AppsV1().DaemonSets(agentNamespace).Get(ctx, agentName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return "", ErrNoImage
	case err != nil:
		return "", verdict(fmt.Errorf("cannot get the image of the agents: %w", err))
	case len(set.Spec.Template.Spec.Containers) == 0:
		return "", ErrNoImage
	}
	return set.Spec.Template.Spec.Containers[0].Image, nil
}
