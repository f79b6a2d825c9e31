package plan

import (
	"fmt"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/kubefacts"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// oldestEtcd is the oldest version of an etcd member, empty if etcd is external or unknown.
func oldestEtcd(s *cluster.Snapshot) string {
	if s.ExternalEtcd() != cluster.No {
		return ""
	}
	oldest := ""
	for _, n := range s.EtcdMembers() {
		v := plainVersion(n.Static["etcd"].Version)
		if n.Report != nil && n.Report.Etcd != nil && n.Report.Etcd.Version != "" {
			v = plainVersion(n.Report.Etcd.Version)
		}
		if oldest == "" || (v != "" && skew.EtcdStays(oldest, v)) {
			oldest = v
		}
	}
	return oldest
}

// etcdMove is how a hop changes etcd.
func (m *planner) etcdMove(from string, version skew.Version, release *cluster.Release) EtcdMove {
	switch external := m.snapshot.ExternalEtcd(); {
	case m.spec.Scope == refitv1alpha1.ScopeWorkers:
		return EtcdMove{}
	case external == cluster.Yes:
		return EtcdMove{Reason: "Refit does not upgrade external etcd"}
	case external == cluster.Unknown || from == "":
		return EtcdMove{Reason: "its version is unknown"}
	}
	to := etcdOf(m.snapshot, version, release)
	switch {
	case to == "":
		return EtcdMove{From: from, Reason: fmt.Sprintf("the ClusterRelease of %s contains no etcd", version)}
	case skew.EtcdStays(from, to):
		return EtcdMove{From: from, Reason: fmt.Sprintf("it is newer than %s, and Refit never downgrades etcd", to)}
	case to == from:
		return EtcdMove{From: from, Reason: "it is up to date"}
	}
	return EtcdMove{From: from, To: to}
}

// etcdOf is the etcd version that a hop installs: the tag that kubeadm's configuration pins, else
// the version of its ClusterRelease, else the default of that version's kubeadm.
func etcdOf(s *cluster.Snapshot, version skew.Version, release *cluster.Release) string {
	if s.Kubeadm != nil && s.Kubeadm.EtcdImageTag != "" {
		return plainVersion(s.Kubeadm.EtcdImageTag)
	}
	if release != nil {
		return plainVersion(release.Payload.Etcd)
	}
	facts, ok := kubefacts.For(version.MinorString())
	if !ok {
		return ""
	}
	return plainVersion(facts.Etcd)
}

// plainVersion removes the build from an image tag: 3.6.8-0 is 3.6.8.
func plainVersion(tag string) string {
	plain, _, _ := strings.Cut(tag, "-")
	return plain
}
