package plan

import (
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

func TestWhichNodesAreDrained(t *testing.T) {
	for situation, tt := range map[string]struct {
		runtime, runc, containerdTo, runcTo, to string
		want                                    bool
	}{
		"a patch release":                       {"containerd://2.1.4", "1.3.0", "2.1.5", "1.3.1", "v1.36.3", false},
		"another minor version":                 {"containerd://2.1.4", "1.3.0", "2.1.5", "1.3.1", "v1.37.1", true},
		"a patch release with containerd 2":     {"containerd://1.7.28", "1.3.0", "2.1.5", "1.3.1", "v1.36.3", true},
		"a patch release with another runc":     {"containerd://2.1.4", "v1.3.0", "2.1.5", "v2.0.0", "v1.36.3", true},
		"a ClusterRelease without a runtime":    {"containerd://1.7.28", "1.3.0", "", "", "v1.36.3", false},
		"versions of the runtime are not known": {"", "", "2.1.5", "1.3.1", "v1.36.3", false},
	} {
		t.Run(situation, func(t *testing.T) {
			n := cluster.Node{Name: "worker-1", Kubelet: "v1.36.1", Runtime: tt.runtime, Report: &refitv1alpha1.NodeReportStatus{}}
			n.Report.Versions.Runc = tt.runc
			release := releaseOf(tt.to)
			release.Payload.Containerd, release.Payload.Runc = tt.containerdTo, tt.runcTo
			s := &cluster.Snapshot{Nodes: []cluster.Node{n, {Name: "worker-2"}}, Releases: []cluster.Release{release}}
			spec := policy.Defaulted(refitv1alpha1.ClusterUpgradeSpec{})
			hop := Hop{Kubernetes: tt.to, Release: &refitv1alpha1.ReleaseRef{Name: release.Name, Digest: release.Digest}}
			if got := needsDrain(s, &spec, &n, &hop); got != tt.want {
				t.Errorf("it is drained: %t", got)
			}
		})
	}
}
