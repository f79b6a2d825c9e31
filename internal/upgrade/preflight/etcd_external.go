package preflight

import (
	"fmt"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// externalEtcd is the external etcd as a control plane node reports it.
type externalEtcd struct {
	*refitv1alpha1.ExternalEtcdFacts

	from *node
}

// external returns the external etcd as every control plane node reports it that does.
func (v *view) external() []externalEtcd {
	if !v.movesControlPlane() || v.s.ExternalEtcd() != cluster.Yes {
		return nil
	}
	var out []externalEtcd
	for _, n := range v.controlPlane() {
		if n.Report != nil && n.Report.ExternalEtcd != nil {
			out = append(out, externalEtcd{n.Report.ExternalEtcd, n})
		}
	}
	return out
}

// externalMembers returns one finding per member, from the first control plane node that has one.
func (v *view) externalMembers(check func(from *node, m refitv1alpha1.ExternalEtcdMember) Finding) []Finding {
	var found []Finding
	seen := map[string]bool{}
	for _, e := range v.external() {
		for _, m := range e.Members {
			f := check(e.from, m)
			if f.Message == "" || seen[m.Name] {
				continue
			}
			seen[m.Name] = true
			f.Object, f.ReportTime = etcdMemberKind+m.Name, e.from.Report.Observed()
			found = append(found, f)
		}
	}
	return found
}

func (v *view) externalUnhealthy() []Finding {
	found := v.externalMembers(func(from *node, m refitv1alpha1.ExternalEtcdMember) Finding {
		if m.Healthy || m.Learner {
			return Finding{}
		}
		problem := m.Problem
		if problem == "" {
			problem = "it does not serve linearizable reads"
		}
		return Finding{
			Message: fmt.Sprintf("the member %s of the external etcd is unhealthy, as %s reaches it: %s", m.Name, from.Name, problem),
			Remedy:  "Fix it first. Its own host has its log; " + command("etcdctl endpoint health --cluster") + " shows all members.",
		}
	})
	if !v.movesControlPlane() || v.s.ExternalEtcd() != cluster.Yes {
		return found
	}
	for _, n := range v.controlPlane() {
		if n.Report != nil && n.Report.ExternalEtcd == nil {
			found = append(found, Finding{
				Object:  n.object(),
				Message: fmt.Sprintf("the agent on %s does not report the external etcd", n.Name),
				Remedy: fmt.Sprintf("Check that %s reaches the endpoints in --etcd-servers with the client certificate of its API server "+
					"(/etc/kubernetes/manifests/kube-apiserver.yaml). Upgrade an older agent: %s", n.Name, command("refit install")),
			})
		}
	}
	return found
}

func (v *view) externalLearners() []Finding {
	return v.externalMembers(func(_ *node, m refitv1alpha1.ExternalEtcdMember) Finding {
		if !m.Learner {
			return Finding{}
		}
		return Finding{
			Message: fmt.Sprintf("the member %s of the external etcd is a learner and cannot vote yet", m.Name),
			Remedy:  "Wait until it is in sync, then promote it: " + command("etcdctl member promote "+m.ID),
		}
	})
}

func (v *view) externalAlarms() []Finding {
	for _, e := range v.external() {
		if len(e.Alarms) > 0 {
			return []Finding{{
				Object: etcdCluster, ReportTime: e.from.Report.Observed(),
				Message: "the external etcd has an active alarm: " + joinNames(e.Alarms),
				Remedy: "For NOSPACE, run " + command("etcdctl compact REVISION; etcdctl defrag --cluster; etcdctl alarm disarm") +
					". For CORRUPT, replace the member.",
			}}
		}
	}
	return nil
}

func (v *view) externalNearQuota() []Finding {
	for _, e := range v.external() {
		if e.QuotaMiB <= 0 || e.DBSizeMiB*100/e.QuotaMiB < nearQuota {
			continue
		}
		return []Finding{{
			Object: etcdCluster, ReportTime: e.from.Report.Observed(),
			Message: fmt.Sprintf("the database of the external etcd uses %d MiB, %d%% of its quota of %d MiB: a full database rejects all writes",
				e.DBSizeMiB, e.DBSizeMiB*100/e.QuotaMiB, e.QuotaMiB),
			Remedy: "Defragment the members, one after the other: " + command("etcdctl defrag --cluster") + ". Or raise their quota-backend-bytes.",
		}}
	}
	return nil
}

// externalClustersDiffer reports control plane nodes whose API servers use different etcd clusters.
func (v *view) externalClustersDiffer() []Finding {
	all := v.external()
	var found []Finding
	for _, e := range all {
		if e.ClusterID != all[0].ClusterID {
			found = append(found, Finding{
				Object: e.from.object(),
				Message: fmt.Sprintf("the API server on %s uses the etcd cluster %s, and that on %s uses %s",
					e.from.Name, e.ClusterID, all[0].from.Name, all[0].ClusterID),
				Remedy: "Set one list of endpoints in etcd.external of the kubeadm configuration and in --etcd-servers of every API server.",
			})
		}
	}
	return found
}

// externalTooOld compares every member with the oldest version that the kubeadm of a hop accepts.
func externalTooOld(v *view) []Finding {
	return v.externalMembers(func(_ *node, m refitv1alpha1.ExternalEtcdMember) Finding {
		for _, h := range v.ahead {
			if m.Version == "" || h.facts == nil || !skew.EtcdStays(h.facts.MinExternalEtcd, m.Version) {
				continue
			}
			return Finding{
				Message: fmt.Sprintf("the member %s of the external etcd runs %s, and Kubernetes %s requires %s or later",
					m.Name, m.Version, h, h.facts.MinExternalEtcd),
				Remedy: "Upgrade the external etcd first, with its own tools, one member and one minor version at a time.",
			}
		}
		return Finding{}
	})
}

func etcdExternal(v *view) []Finding {
	if !v.movesControlPlane() || v.s.ExternalEtcd() != cluster.Yes {
		return nil
	}
	return []Finding{{
		Object:  etcdCluster,
		Message: "etcd is external: Refit checks its members and backs it up, and neither upgrades nor restores it",
		Remedy:  "Upgrade and restore it with its own tools.",
	}}
}
