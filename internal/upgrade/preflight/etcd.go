package preflight

import (
	"fmt"
	"slices"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// nearQuota is the share of its quota, in percent, from which etcd's database counts as nearly full.
const nearQuota = 80

// members are the nodes with etcd of which this upgrade has to take care.
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

func etcdObject(n *node) string { return "etcd member " + n.Name }

func etcdMemberUnhealthy(v *view) []Finding {
	var found []Finding
	for _, n := range v.members() {
		var message string
		switch {
		case n.Report != nil && n.Report.Etcd != nil && !n.Report.Etcd.Healthy:
			message = fmt.Sprintf("the etcd member on %s does not answer a read that needs the quorum", n.Name)
		case n.Report != nil && n.Report.Etcd == nil:
			message = fmt.Sprintf("the agent on %s cannot reach its etcd member", n.Name)
		case (n.Report == nil || n.Report.Etcd == nil) && v.staticNotReady(n, "etcd"):
			message = fmt.Sprintf("the pod of the etcd member on %s is not ready", n.Name)
		default:
			continue
		}
		found = append(found, Finding{
			Object:  etcdObject(n),
			Message: message + ": with one member down, no other may be touched",
			Remedy:  fmt.Sprintf("Bring it back first: kubectl -n kube-system logs etcd-%s", n.Name),
		})
	}
	return found
}

func etcdTwoMembers(v *view) []Finding {
	members := v.members()
	if len(members) != 2 {
		return nil
	}
	return []Finding{{
		Object: "etcd",
		Message: fmt.Sprintf("etcd has two members (%s and %s): while either is upgraded there is no quorum, and the API is away for about a "+
			"minute each time",
			members[0].Name, members[1].Name),
		Remedy: "Add a third control plane node: kubeadm join --control-plane. To accept the outage, waive EtcdTwoMembers.",
	}}
}

func etcdLearner(v *view) []Finding {
	var found []Finding
	for _, n := range v.members() {
		if n.Report != nil && n.Report.Etcd != nil && n.Report.Etcd.Learner {
			found = append(found, Finding{
				Object:  etcdObject(n),
				Message: fmt.Sprintf("the etcd member on %s is a learner: it has no vote yet", n.Name),
				Remedy:  fmt.Sprintf("Wait until it has caught up, then promote it: etcdctl member promote %s", n.Report.Etcd.ID),
			})
		}
	}
	return found
}

func etcdAlarm(v *view) []Finding {
	var found []Finding
	for _, n := range v.members() {
		if n.Report != nil && n.Report.Etcd != nil && len(n.Report.Etcd.Alarms) > 0 {
			found = append(found, Finding{
				Object:  etcdObject(n),
				Message: fmt.Sprintf("etcd on %s raises an alarm: %s", n.Name, some(n.Report.Etcd.Alarms)),
				Remedy:  "For NOSPACE: compact and defragment each member, then etcdctl alarm disarm. For CORRUPT: replace that member.",
			})
		}
	}
	return found
}

func etcdNearQuota(v *view) []Finding {
	var found []Finding
	for _, n := range v.members() {
		if n.Report == nil || n.Report.Etcd == nil || n.Report.Etcd.QuotaMiB <= 0 {
			continue
		}
		e := n.Report.Etcd
		if percent := e.DBSizeMiB * 100 / e.QuotaMiB; percent >= nearQuota {
			found = append(found, Finding{
				Object: etcdObject(n),
				Message: fmt.Sprintf("the database of etcd on %s has %d MiB, %d%% of its quota of %d MiB: when it is full, nothing can be written",
					n.Name, e.DBSizeMiB, percent, e.QuotaMiB),
				Remedy: "Defragment one member after the other (etcdctl defrag --endpoints …), or raise quota-backend-bytes in kubeadm's " +
					"configuration.",
			})
		}
	}
	return found
}

// etcdTooOld follows every member along the way: each step must be one that etcd's authors call safe.
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
					Message:  fmt.Sprintf("the version of etcd on %s cannot be read from its image %s", n.Name, n.Static["etcd"].Image),
					Remedy: fmt.Sprintf("An agent on the node tells it: %s. Or use an image with a version as its tag, such as registry.k8s.io/etcd:%s",
						command("refit install"), next),
				})
				break
			}
			if reason != "" {
				f := Finding{
					Object:  etcdObject(n),
					Message: fmt.Sprintf("%s (on %s, for %s)", reason, n.Name, h),
					Remedy: fmt.Sprintf("Upgrade etcd by itself first, one member after the other: the image registry.k8s.io/etcd:%s in "+
						"/etc/kubernetes/manifests/etcd.yaml on %s. Leave etcd.local.imageTag in kubeadm's configuration empty: with a tag there, kubeadm "+
						"would keep etcd at it for good.", v.etcdBetween(now), n.Name),
				}
				if h.etcdTag != "" {
					f.Remedy = "This is the tag in etcd.local.imageTag: take it out. " + editKubeadm
				}
				found = append(found, f)
				break
			}
			now = next
		}
	}
	return found
}

// etcdBetween is a version of etcd that can be reached from another, and from which it can go on.
func (v *view) etcdBetween(now string) string {
	if v.from != nil {
		if reason, err := skew.EtcdStep(now, v.from.Etcd); err == nil && reason == "" && !skew.EtcdStays(now, v.from.Etcd) {
			return v.from.Etcd
		}
	}
	return "3.5.26-0"
}

// etcdMembershipDiffers compares the members that each member knows with the control plane nodes: one too many is a member that nobody upgrades.
func etcdMembershipDiffers(v *view) []Finding {
	members := v.members()
	want := map[string]bool{}
	for _, n := range members {
		switch {
		case n.Report != nil && n.Report.Etcd != nil:
			want[n.Report.Etcd.Name] = true
		case n.Static["etcd"].Flags["name"] != "":
			want[n.Static["etcd"].Flags["name"]] = true
		default:
			want[n.Name] = true
		}
	}
	var found []Finding
	for _, n := range members {
		if n.Report == nil || n.Report.Etcd == nil || len(n.Report.Etcd.Members) == 0 {
			continue
		}
		var differ []string
		for _, name := range slices.Sorted(slices.Values(n.Report.Etcd.Members)) {
			if !want[name] {
				differ = append(differ, name+" has no control plane node")
			}
		}
		for _, name := range sorted(want) {
			if !slices.Contains(n.Report.Etcd.Members, name) {
				differ = append(differ, name+" is no member")
			}
		}
		if len(differ) > 0 {
			found = append(found, Finding{
				Object:  etcdObject(n),
				Message: fmt.Sprintf("etcd on %s has other members than the control plane has nodes: %s", n.Name, some(differ)),
				Remedy:  "Remove members that are gone (etcdctl member list; etcdctl member remove ID), or join the node again that is missing.",
			})
		}
	}
	return found
}

func etcdExternal(v *view) []Finding {
	if !v.movesControlPlane() || v.s.ExternalEtcd() != cluster.Yes {
		return nil
	}
	needs := ""
	for _, h := range v.ahead {
		if h.facts != nil && h.facts.MinExternalEtcd != "" {
			needs = fmt.Sprintf("; Kubernetes %s needs at least etcd %s", h, h.facts.MinExternalEtcd)
		}
	}
	return []Finding{{
		Object:  "etcd",
		Message: "etcd is run outside of this cluster: Refit does not touch it" + needs,
		Remedy:  "Make sure that its version is new enough: etcdctl endpoint status",
	}}
}

func etcdUnknown(v *view) []Finding {
	if !v.movesControlPlane() {
		return nil
	}
	if v.s.ExternalEtcd() == cluster.Unknown {
		return []Finding{{
			Unknown: true,
			Object:  "etcd",
			Message: "where etcd runs is not known",
			Remedy:  "Let Refit read pods and the ConfigMap kubeadm-config in kube-system.",
		}}
	}
	var found []Finding
	if v.s.ExternalEtcd() == cluster.No {
		for _, n := range v.controlPlane() {
			if _, has := n.Static["etcd"]; !has && (n.Report == nil || n.Report.Etcd == nil) {
				found = append(found, Finding{
					Unknown: true,
					Object:  etcdObject(n),
					Message: fmt.Sprintf("no etcd is seen on %s, although etcd runs on the control plane", n.Name),
					Remedy:  fmt.Sprintf("Look whether its manifest is there: ls /etc/kubernetes/manifests (on %s)", n.Name),
				})
			}
		}
	}
	return found
}
