package agents

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
)

// key signs ClusterReleases, and is pinned on every host.
var key = artifact.NewKey()

// Release returns a ClusterRelease of a version of Kubernetes that the hosts accept. Its artifacts
// do not exist: the hosts are simulated.
func Release(version string) (*refitv1alpha1.ClusterRelease, error) {
	payload, err := json.Marshal(refitv1alpha1.ReleasePayload{Kubernetes: version, Files: clustertest.DebFiles(version)})
	if err != nil {
		return nil, fmt.Errorf("writing a ClusterRelease: %w", err)
	}
	envelope, err := artifact.Sign(payload, key)
	if err != nil {
		return nil, err
	}
	return &refitv1alpha1.ClusterRelease{
		ObjectMeta: metav1.ObjectMeta{Name: "kubernetes-" + version}, Spec: refitv1alpha1.ClusterReleaseSpec{Kubernetes: version, Envelope: envelope},
	}, nil
}

// releaseVersion returns the version of a ClusterRelease if the key on the hosts has signed it. It
// reads each once: a ClusterRelease is immutable.
func (a *Agents) releaseVersion(ctx context.Context, name string) string {
	a.mu.Lock()
	known := a.releases[name]
	a.mu.Unlock()
	if known != "" {
		return known
	}
	var version string
	a.write(ctx, func(ctx context.Context) error {
		release := &refitv1alpha1.ClusterRelease{}
		if err := a.client.Get(ctx, types.NamespacedName{Name: name}, release); err != nil {
			return err
		}
		opened, err := artifact.Verify(release.Spec.Envelope, []artifact.PublicKey{artifact.PublicOf(key)})
		version = opened.Payload.Kubernetes
		return err
	})
	a.mu.Lock()
	defer a.mu.Unlock()
	a.releases[name] = version
	return version
}
