package preflight

import (
	"fmt"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// nearQuota is the percentage of its quota from which the etcd database counts as nearly full.
const nearQuota = 80

// members returns the nodes whose etcd member this upgrade changes.
func (v *view) members() []*node {
	if !v.movesControlPlane() || v.s.ExternalEtcd() == cluster.Yes {
		return nil
	}
	var out []*node
	for _, n := range v.s.EtcdMembers() {
		out = append(out, v.byName[n.Name])
	}
	return out
}

const (
	etcdCluster    = "etcd" // the object of a finding about all members
	etcdMemberKind = "etcd member "
)

func etcdObject(n *node) string { return etcdMemberKind + n.Name }

func etcdMemberUnhealthy(v *view) []Finding {
	found := v.externalUnhealthy()
	for _, n := range v.members() {
		var message string
		switch {
		case n.Report != nil && n.Report.Etcd != nil && !n.Report.Etcd.Healthy:
			message = fmt.Sprintf("the etcd member on %s does not serve linearizable reads", n.Name)
		case n.Report != nil && n.Report.Etcd == nil:
			message = fmt.Sprintf("the agent on %s cannot reach its etcd member", n.Name)
		case (n.Report == nil || n.Report.Etcd == nil) && v.staticNotReady(n, "etcd"):
			message = fmt.Sprintf("the pod of the etcd member on %s is not ready", n.Name)
		default:
			continue
		}
		found = append(found, Finding{
			Object:  etcdObject(n),
			Message: message + ": no other member may restart while one is unhealthy",
			Remedy:  fmt.Sprintf("Fix it first: `kubectl -n kube-system logs etcd-%s`", n.Name),
		})
	}
	return found
}

func etcdLearner(v *view) []Finding {
	found := v.externalLearners()
	for _, n := range v.members() {
		if n.Report != nil && n.Report.Etcd != nil && n.Report.Etcd.Learner {
			found = append(found, Finding{
				Object:  etcdObject(n),
				Message: fmt.Sprintf("the etcd member on %s is a learner and cannot vote yet", n.Name),
				Remedy:  "Wait until it is in sync, then promote it: " + command("etcdctl member promote "+n.Report.Etcd.ID),
			})
		}
	}
	return found
}

func etcdAlarm(v *view) []Finding {
	found := v.externalAlarms()
	for _, n := range v.members() {
		if n.Report != nil && n.Report.Etcd != nil && len(n.Report.Etcd.Alarms) > 0 {
			found = append(found, Finding{
				Object:  etcdObject(n),
				Message: fmt.Sprintf("etcd on %s has an active alarm: %s", n.Name, joinNames(n.Report.Etcd.Alarms)),
				Remedy: "For NOSPACE, run " + command("etcdctl compact REVISION; etcdctl defrag --cluster; etcdctl alarm disarm") +
					". For CORRUPT, replace the member.",
			})
		}
	}
	return found
}

func etcdNearQuota(v *view) []Finding {
	found := v.externalNearQuota()
	for _, n := range v.members() {
		if n.Report == nil || n.Report.Etcd == nil || n.Report.Etcd.QuotaMiB <= 0 {
			continue
		}
		e := n.Report.Etcd
		if percent := e.DBSizeMiB * 100 / e.QuotaMiB; percent >= nearQuota {
			found = append(found, Finding{
				Object: etcdObject(n),
				Message: fmt.Sprintf("the etcd database on %s uses %d MiB, %d%% of its quota of %d MiB: a full database rejects all writes",
					n.Name, e.DBSizeMiB, percent, e.QuotaMiB),
				Remedy: "Defragment the members, one after the other: " + command("etcdctl defrag --cluster") +
					". Or raise quota-backend-bytes in extraArgs of etcd: " + editKubeadm,
			})
		}
	}
	return found
}

// etcdTooOld follows every member along the hops: each step must be one that the etcd project
// supports.
func etcdTooOld(v *view) []Finding {
	var found []Finding
	for _, n := range v.members() {
		now := n.etcdVersion()
		for _, h := range v.ahead {
			next := h.etcd()
			if next == "" || skew.EtcdStays(now, next) {
				continue
			}
			reason, err := skew.EtcdStep(now, next)
			if err != nil {
				found = append(found, Finding{
					Unknown:  true,
					Deferred: n.Report == nil,
					Object:   etcdObject(n),
					Message:  fmt.Sprintf("the version of etcd on %s cannot be determined from its image %s", n.Name, n.Static["etcd"].Image),
					Remedy: fmt.Sprintf("Install an agent on the node, which reports it: %s. Or use an image whose tag is a version, such as "+
						"registry.k8s.io/etcd:%s",
						command("refit install"), next),
				})
				break
			}
			if reason != "" {
				f := Finding{
					Object: etcdObject(n), ReportTime: n.etcdVersionTime(),
					Message: fmt.Sprintf("%s (on %s, for %s)", reason, n.Name, h),
					Remedy: fmt.Sprintf("Upgrade etcd separately first, one member at a time: set the image to registry.k8s.io/etcd:%s in "+
						"/etc/kubernetes/manifests/etcd.yaml on %s. Leave etcd.local.imageTag empty in the kubeadm configuration: kubeadm would keep etcd "+
						"at that tag.", v.etcdBetween(now), n.Name),
				}
				if h.etcdTag != "" {
					f.Remedy = "This is the tag in etcd.local.imageTag. Remove it: " + editKubeadm
				}
				found = append(found, f)
				break
			}
			now = next
		}
	}
	return found
}

// etcdBetween returns an intermediate version of etcd that is reachable from now and leads on to
// the hops.
func (v *view) etcdBetween(now string) string {
	if v.from != nil {
		if reason, err := skew.EtcdStep(now, v.from.Etcd); err == nil && reason == "" && !skew.EtcdStays(now, v.from.Etcd) {
			return v.from.Etcd
		}
	}
	return "3.5.26-0"
}

func etcdUnknown(v *view) []Finding {
	if !v.movesControlPlane() {
		return nil
	}
	if v.s.ExternalEtcd() == cluster.Unknown {
		return []Finding{{
			Unknown: true,
			Object:  etcdCluster,
			Message: "Refit cannot determine where etcd runs",
			Remedy:  "Grant Refit read access to pods and the ConfigMap kubeadm-config in kube-system.",
		}}
	}
	var found []Finding
	if v.s.ExternalEtcd() == cluster.No {
		for _, n := range v.controlPlane() {
			if _, has := n.Static["etcd"]; !has && (n.Report == nil || n.Report.Etcd == nil) {
				found = append(found, Finding{
					Unknown: true,
					Object:  etcdObject(n),
					Message: fmt.Sprintf("%s has no etcd member, but etcd runs on the control plane nodes", n.Name),
					Remedy:  fmt.Sprintf("Check whether the etcd manifest exists. On %s, run `ls /etc/kubernetes/manifests`", n.Name),
				})
			}
		}
	}
	return found
}
