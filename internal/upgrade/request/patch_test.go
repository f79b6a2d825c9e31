package request

import (
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

func releaseOf(version, err string) cluster.Release {
	return cluster.Release{Payload: refitv1alpha1.ReleasePayload{Kubernetes: version}, Error: err}
}

func TestNewestPatch(t *testing.T) {
	releases := []cluster.Release{
		releaseOf("v1.36.9", ""), releaseOf("v1.36.10", ""), releaseOf("v1.36.11", "the signature is not valid"), releaseOf("v1.37.1", ""),
	}
	if got, err := NewestPatch("1.36", releases); err != nil || got != "v1.36.10" {
		t.Errorf("NewestPatch() = %q, %v, want the newest patch of a usable ClusterRelease", got, err)
	}
	if _, err := NewestPatch("1.35", releases); err == nil || !strings.Contains(err.Error(), "ClusterReleases of v1.36.9, v1.36.10, v1.37.1:") {
		t.Errorf("the error of a version that no ClusterRelease has is %v", err)
	}
	if _, err := NewestPatch("1.36", nil); err == nil || !strings.Contains(err.Error(), "no ClusterRelease at all") {
		t.Errorf("the error of a cluster without ClusterReleases is %v", err)
	}
}
