package preflight

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
	"github.com/refit-dev/refit/internal/upgrade/configpatch"
)

// situation is a cluster for one check: a healthy one with three control plane nodes and two
// workers with agents, to be upgraded from v1.35.4 to v1.36.3, with changes. testdata/findings.txt
// contains the expected findings.
type situation struct {
	check, name string
	want        Severity // of the most severe finding, empty if there is none
	change      clustertest.Change
	from, to    string                                  // override the defaults
	spec        func(*refitv1alpha1.ClusterUpgradeSpec) // changes the default
	single      bool                                    // a cluster of one node
	bare        bool                                    // without agents
	unknown     bool                                    // the most severe finding is Unknown
	deferred    bool                                    // the most severe finding is deferred
}

var none Severity

type (
	change   = clustertest.Change
	snapshot = cluster.Snapshot
)

func onNode(name string, f func(*cluster.Node)) change { return clustertest.OnNode(name, f) }

func onWorker(f func(*cluster.Node)) change { return onNode("worker-1", f) }

func onReport(name string, f func(*refitv1alpha1.NodeReportStatus)) change {
	return onNode(name, func(n *cluster.Node) { f(n.Report) })
}

func all(changes ...change) change {
	return func(s *snapshot) {
		for _, c := range changes {
			c(s)
		}
	}
}

func pods(kind, name string, on map[string]int32, f ...func(*cluster.Workload)) change {
	w := cluster.Workload{Namespace: "shop", Kind: kind, Name: name, GraceSeconds: 30, Request: cluster.Resources{MilliCPU: 100, Memory: 128 << 20}}
	for _, g := range f {
		g(&w)
	}
	return clustertest.Pods(w, on)
}

var onBoth = map[string]int32{"worker-1": 1, "worker-2": 1}

// cart is a Deployment with a pod on each worker and a PDB with this many allowed disruptions.
func cart(allowed int32, f ...func(*cluster.Budget)) change {
	return all(pods("Deployment", "cart", onBoth), clustertest.Budget("shop", "cart", allowed, "cart"), func(s *snapshot) {
		for _, g := range f {
			g(&s.Budgets[0])
		}
	})
}

// split is an owner with a pod on each worker, each covered by its own PDB.
func split(kind string, f func(*cluster.Workload)) change {
	budget := func(name string) change {
		return func(s *snapshot) {
			s.Budgets = append(s.Budgets, cluster.Budget{Namespace: "shop", Name: name, Expected: 1, Healthy: 1, Matched: 1, Allowed: 1, Observed: true})
		}
	}
	entry := func(node, budget string) change {
		return pods(kind, "db", map[string]int32{node: 1}, func(w *cluster.Workload) {
			w.Budgets = []string{budget}
			f(w)
		})
	}
	return all(budget("primary"), budget("replicas"), entry("worker-1", "primary"), entry("worker-2", "replicas"))
}

func onEveryPodSet(f func(*cluster.PodSet)) change {
	return clustertest.OnEveryNode(func(n *cluster.Node) {
		for i := range n.Pods {
			f(&n.Pods[i])
		}
	})
}

func staticPod(name, component string, f func(*cluster.StaticPod)) change {
	return onNode(name, func(n *cluster.Node) {
		pod := n.Static[component]
		f(&pod)
		n.Static[component] = pod
	})
}

func atVersion(name, component, version string) change {
	return staticPod(name, component, func(p *cluster.StaticPod) { p.Version = version })
}

func extraArgs(component, flag, value string) change {
	return func(s *snapshot) { s.Kubeadm.ExtraArgs = map[string]map[string]string{component: {flag: value}} }
}

// patched is a cluster with a value of an argument, whose last ClusterRelease has set another one,
// and whose next one sets a third.
func patched(live, last string) change {
	const field = "apiServer.extraArgs.goaway-chance"
	values := func(value string) configpatch.Values {
		if value == "" {
			return nil
		}
		return configpatch.Values{field: {value}}
	}
	return func(s *snapshot) {
		s.Kubeadm.Configured, s.Kubeadm.Patched = values(live), values(last)
		s.Releases[0].Payload.ClusterConfiguration = &refitv1alpha1.ClusterConfigurationPatch{APIServer: &refitv1alpha1.ControlPlaneComponentPatch{
			ExtraArgs: []refitv1alpha1.ReleaseArgument{{Name: "goaway-chance", Value: "0.2"}},
		}}
	}
}

func podFlag(component, flag, value string) change {
	return staticPod("cp-1", component, func(p *cluster.StaticPod) { p.Flags[flag] = value })
}

func webhook(f func(*cluster.Webhook)) change {
	return func(s *snapshot) {
		w := cluster.Webhook{
			Configuration: "policy", Name: "validate.policy.example", FailClosed: true, Equivalent: true, Resources: []string{"/pods"},
			Backend:    &cluster.Backend{Namespace: "policy", Service: "policy", Found: cluster.Yes, Ready: 2, Nodes: []string{"worker-1", "worker-2"}},
			CANotAfter: clustertest.Now.AddDate(1, 0, 0),
		}
		f(&w)
		s.Webhooks = append(s.Webhooks, w)
	}
}

func crd(f func(*cluster.CRD)) change {
	return func(s *snapshot) {
		c := cluster.CRD{
			Name: "carts.shop.example", Group: "shop.example", Kind: "Cart", Versions: []string{"v1", "v1beta1"}, Served: []string{"v1", "v1beta1"},
			Storage: "v1", StoredVersions: []string{"v1beta1", "v1"}, Established: cluster.Yes,
		}
		f(&c)
		s.CRDs = append(s.CRDs, c)
	}
}

func actor(kind, object string, active cluster.Answer) change {
	return func(s *snapshot) {
		s.Actors = append(s.Actors, cluster.Actor{Kind: kind, Object: object, Active: active})
	}
}

func helm(status string, objects ...cluster.Object) change {
	return func(s *snapshot) {
		s.Helm = append(s.Helm, cluster.Helm{Namespace: "shop", Name: "cart", Revision: 7, Status: status, Objects: objects})
	}
}

func whenBlocked(p refitv1alpha1.OnBlocked) func(*refitv1alpha1.ClusterUpgradeSpec) {
	return func(spec *refitv1alpha1.ClusterUpgradeSpec) {
		spec.Pools = []refitv1alpha1.Pool{{Name: "default", Drain: refitv1alpha1.Drain{OnBlocked: p}}}
	}
}

// twoAtOnce lets two workers be unavailable.
func twoAtOnce(spec *refitv1alpha1.ClusterUpgradeSpec) {
	two := intstr.FromInt32(2)
	spec.Pools = []refitv1alpha1.Pool{{Name: "default", MaxUnavailable: &two}}
}

// archives has the images of the add-ons in the ClusterRelease.
func archives(s *snapshot) {
	for _, name := range []string{"kube-proxy:v1.36.3", "coredns/coredns:v1.13.1", "pause:3.10.1"} {
		s.Releases[0].Payload.Images = append(s.Releases[0].Payload.Images, refitv1alpha1.ReleaseImage{
			Name: "registry.k8s.io/" + name, OS: "linux", Arch: "amd64", Archive: &refitv1alpha1.Blob{},
		})
	}
}

func toARM(r *refitv1alpha1.NodeReportStatus) { r.Arch = "arm64" }

// armFiles has the files of the ClusterRelease for arm64, too.
func armFiles(s *snapshot) {
	for _, f := range s.Releases[0].Payload.Files {
		f.Arch = "arm64"
		s.Releases[0].Payload.Files = append(s.Releases[0].Payload.Files, f)
	}
}

// armImages has the images of the ClusterRelease for arm64, too.
func armImages(s *snapshot) {
	for _, image := range s.Releases[0].Payload.Images {
		image.Arch = "arm64"
		s.Releases[0].Payload.Images = append(s.Releases[0].Payload.Images, image)
	}
}

func scope(s refitv1alpha1.Scope) func(*refitv1alpha1.ClusterUpgradeSpec) {
	return func(spec *refitv1alpha1.ClusterUpgradeSpec) { spec.Scope = s }
}

func waiver(check, object string) func(*refitv1alpha1.ClusterUpgradeSpec) {
	return func(spec *refitv1alpha1.ClusterUpgradeSpec) {
		spec.Waivers = append(spec.Waivers, refitv1alpha1.Waiver{Check: check, Object: object, Reason: "approved for the test"})
	}
}

func selecting(pool string) func(*refitv1alpha1.ClusterUpgradeSpec) {
	return func(spec *refitv1alpha1.ClusterUpgradeSpec) { spec.NodeSelector = refitv1alpha1.Labels{"pool": pool} }
}

func unread(part cluster.Part, why cluster.GapKind) change { return clustertest.Unread(part, why) }

// unreadObject is an object of the kubeadm configuration that could not be read.
func unreadObject(object string, why cluster.GapKind) change {
	return func(s *snapshot) {
		s.Gaps = append(s.Gaps, cluster.Gap{Part: cluster.PartKubeadm, Object: object, Kind: why, Message: "reason from the test"})
	}
}

func situations() []situation {
	return slices.Concat(versionSituations(), controlPlaneSituations(), etcdSituations(), componentSituations(), kubeadmSituations(), nodeSituations(),
		agentSituations(), hostSituations(), virtualIPSituations(), drainSituations(), workloadSituations(), extensionSituations(), removalSituations(), otherSituations(), addOnSituations())
}

func versionSituations() []situation {
	kubelet := func(name, version string) change { return onNode(name, func(n *cluster.Node) { n.Kubelet = version }) }
	proxy := func(version string) change { return onWorker(func(n *cluster.Node) { n.KubeProxy = version }) }
	return []situation{
		{check: "VersionPathUnsupported", name: "one minor version up"},
		{check: "VersionPathUnsupported", name: "downgrade", to: "v1.35.1", want: Block},
		{check: "VersionPathUnsupported", name: "unsupported target version", to: "v1.39.0", want: Block},
		{check: "VersionPathUnsupported", name: "current version below the minimum", from: "v1.30.2", want: Block},
		{check: "VersionPathUnsupported", name: "current version without facts", from: "v1.33.9", to: "v1.34.4"},
		{check: "VersionPathUnsupported", name: "unknown control plane version", want: Block, unknown: true, change: all(
			func(s *snapshot) { s.Version, s.APIServers = "", nil },
			clustertest.OnEveryNode(func(n *cluster.Node) { n.Static, n.Report = nil, nil }))},
		{check: "VersionPathUnsupported", name: "workers to a version below the control plane", to: "v1.35.3", spec: scope(refitv1alpha1.ScopeWorkers)},

		{check: "AlreadyAtTarget", name: "nodes behind"},
		{check: "AlreadyAtTarget", name: "all nodes at the target", from: "v1.36.3", want: Info},
		{check: "AlreadyAtTarget", name: "only the scheduler of one node is behind", from: "v1.36.3", change: atVersion("cp-2", "kube-scheduler", "v1.36.2")},

		{check: "PatchBehind", name: "at the newest patch"},
		{check: "PatchBehind", name: "at an older patch", from: "v1.35.1", want: Info},
		{check: "PatchBehind", name: "to the newest patch", from: "v1.35.1", to: "v1.35.4"},

		{check: "KubeletTooOld", name: "three minor versions behind the target", change: kubelet("worker-1", "v1.33.1")},
		{check: "KubeletTooOld", name: "four minor versions behind the target, workers catch up first", change: kubelet("worker-1", "v1.32.9")},
		{check: "KubeletTooOld", name: "four minor versions behind the target, on the control plane", change: kubelet("cp-1", "v1.32.9"), want: Block},
		{
			check: "KubeletTooOld", name: "workers catch up first, a control plane node does not", want: Block,
			change: all(kubelet("worker-1", "v1.32.9"), kubelet("cp-1", "v1.32.9")),
		},
		{
			check: "KubeletTooOld", name: "workers are upgraded in between, except an excluded one", change: kubelet("worker-1", "v1.33.1"), to: "v1.37.1", want: Block,
			spec: func(spec *refitv1alpha1.ClusterUpgradeSpec) {
				spec.NodeSelector = refitv1alpha1.Labels{"kubernetes.io/hostname": "worker-2"}
			},
		},
		{check: "KubeletTooOld", name: "excluded, and too old at the end", change: kubelet("worker-1", "v1.33.1"), to: "v1.37.1", spec: scope(refitv1alpha1.ScopeControlPlane), want: Block},
		{check: "KubeletTooOld", name: "workers are upgraded in between", change: kubelet("worker-1", "v1.33.1"), to: "v1.37.1"},
		{check: "KubeletTooOld", name: "invalid version", change: kubelet("worker-1", "custom"), want: Block, unknown: true},

		{check: "KubeletNewerThanAPIServer", name: "a newer patch", change: kubelet("worker-1", "v1.35.9")},
		{check: "KubeletNewerThanAPIServer", name: "already at the target", change: kubelet("worker-1", "v1.36.3"), want: Warn},
		{
			check: "KubeletNewerThanAPIServer", name: "already at the target, from an rpm package", want: Warn,
			change: onWorker(func(n *cluster.Node) { n.Kubelet, n.Report.PackageKind = "v1.36.3", refitv1alpha1.PackageRpm }),
		},
		{check: "KubeletNewerThanAPIServer", name: "newer than the target", change: kubelet("worker-1", "v1.37.1"), want: Block},

		{check: "ControllerSkew", name: "one minor version behind the next", change: atVersion("cp-1", "kube-scheduler", "v1.35.1")},
		{check: "ControllerSkew", name: "two minor versions behind the next", change: atVersion("cp-1", "kube-scheduler", "v1.34.4"), want: Block},
		{check: "ControllerSkew", name: "newer than every API server", change: atVersion("cp-1", "kube-controller-manager", "v1.36.3"), want: Block},
		{
			check: "ControllerSkew", name: "image by digest", want: Warn, unknown: true,
			change: staticPod("cp-1", "kube-scheduler", func(p *cluster.StaticPod) { p.Version, p.Image = "", "registry.k8s.io/kube-scheduler@sha256:1" }),
		},

		{check: "ProxySkew", name: "three minor versions behind the next", change: proxy("v1.33.0")},
		{check: "ProxySkew", name: "four minor versions behind the next", change: proxy("v1.32.0"), want: Block},
		{check: "ProxySkew", name: "newer than the API servers", change: proxy("v1.36.0"), want: Warn},
		{check: "ProxySkew", name: "no kube-proxy", change: proxy("")},

		{check: "APIServersMixed", name: "same version"},
		{check: "APIServersMixed", name: "unfinished upgrade", change: func(s *snapshot) { s.APIServers[0].Version = "v1.36.3" }, want: Warn},
		{check: "APIServersMixed", name: "two minor versions apart", change: func(s *snapshot) { s.APIServers[0].Version = "v1.34.4" }, from: "v1.36.3", to: "v1.37.1", want: Block},
		{check: "APIServersMixed", name: "one newer than the target", change: func(s *snapshot) { s.APIServers[0].Version = "v1.36.5" }, want: Block},
	}
}

func controlPlaneSituations() []situation {
	notReady := func(s *snapshot) { s.Nodes[0].Ready = cluster.No }
	return []situation{
		{check: "ControlPlaneNodeNotReady", name: "all ready"},
		{check: "ControlPlaneNodeNotReady", name: "one not ready", change: notReady, want: Block},
		{check: "ControlPlaneNodeNotReady", name: "one unreachable", change: func(s *snapshot) { s.Nodes[0].Ready = cluster.Unknown }, want: Block, unknown: true},
		{check: "ControlPlaneNodeNotReady", name: "no control plane node", change: func(s *snapshot) { s.Nodes = s.Nodes[3:] }, want: Block},
		{
			check: "ControlPlaneNodeNotReady", name: "no control plane node, only workers are upgraded", want: Block,
			change: func(s *snapshot) { s.Nodes = s.Nodes[3:] }, to: "v1.35.4", spec: scope(refitv1alpha1.ScopeWorkers),
		},
		{check: "ControlPlaneNodeNotReady", name: "only workers are upgraded", change: notReady, to: "v1.35.4", spec: scope(refitv1alpha1.ScopeWorkers)},

		{check: "APIServerNotReady", name: "all ready"},
		{check: "APIServerNotReady", name: "one reports failing checks", want: Block, change: func(s *snapshot) {
			s.APIServers[1].Ready, s.APIServers[1].Failing = cluster.No, []string{"etcd", "poststarthook/rbac/bootstrap-roles"}
		}},
		{check: "APIServerNotReady", name: "unknown readiness, its agent reports not ready", want: Block, change: all(
			func(s *snapshot) { s.APIServers[1].Ready = cluster.Unknown },
			onReport("cp-2", func(r *refitv1alpha1.NodeReportStatus) { r.APIServer.Ready = false }))},
		{
			check: "APIServerNotReady", name: "its agent reported not ready, it now reports ready itself",
			change: onReport("cp-2", func(r *refitv1alpha1.NodeReportStatus) { r.APIServer.Ready = false }),
		},
		{check: "APIServerNotReady", name: "unknown readiness, its pod is not ready", bare: true, want: Block, change: all(
			func(s *snapshot) { s.APIServers[1].Ready = cluster.Unknown },
			staticPod("cp-2", "kube-apiserver", func(p *cluster.StaticPod) { p.Ready = false }))},

		{check: "APIServerUnknown", name: "its agent reports readiness", change: func(s *snapshot) { s.APIServers[0].Ready = cluster.Unknown }},
		{check: "APIServerUnknown", name: "unknown readiness, its pod is ready", bare: true, want: Warn, unknown: true, change: func(s *snapshot) {
			s.APIServers[0].Ready, s.APIServers[0].Error = cluster.Unknown, "dial tcp 10.0.0.1:6443: i/o timeout"
		}},
		{check: "APIServerUnknown", name: "unknown readiness, no pod", bare: true, want: Block, unknown: true, change: all(
			func(s *snapshot) { s.APIServers = s.APIServers[1:] },
			onNode("cp-1", func(n *cluster.Node) { delete(n.Static, "kube-apiserver") }))},

		{check: "ControlPlanePodNotReady", name: "all ready"},
		{
			check: "ControlPlanePodNotReady", name: "one of three not ready", want: Warn,
			change: staticPod("cp-1", "kube-scheduler", func(p *cluster.StaticPod) { p.Ready = false }),
		},
		{
			check: "ControlPlanePodNotReady", name: "none ready", single: true, want: Block,
			change: staticPod("cp-1", "kube-controller-manager", func(p *cluster.StaticPod) { p.Ready = false }),
		},

		{check: "StaticPodMissing", name: "all present"},
		{check: "StaticPodMissing", name: "no scheduler", want: Block, change: onNode("cp-3", func(n *cluster.Node) { delete(n.Static, "kube-scheduler") })},
		{
			check: "StaticPodMissing", name: "the agent reports a missing manifest", want: Block,
			change: onReport("cp-3", func(r *refitv1alpha1.NodeReportStatus) { r.Drift.MissingManifests = []string{"etcd"} }),
		},

		{check: "SingleControlPlane", name: "three"},
		{check: "SingleControlPlane", name: "one", single: true, want: Info},
		{check: "SingleControlPlane", name: "one, at the target", single: true, from: "v1.36.3"},
	}
}

func etcdSituations() []situation {
	etcd := func(f func(*refitv1alpha1.EtcdFacts)) change {
		return onReport("cp-2", func(r *refitv1alpha1.NodeReportStatus) { f(r.Etcd) })
	}
	stacked := func(version string) change {
		return func(s *snapshot) {
			for i := range 3 {
				pod := s.Nodes[i].Static["etcd"]
				pod.Version, pod.Image = version, "registry.k8s.io/etcd:"+version+"-0"
				s.Nodes[i].Static["etcd"] = pod
			}
		}
	}
	pinned := func(tag string) change {
		return func(s *snapshot) { s.Kubeadm.EtcdImageTag = tag }
	}
	external := func(s *snapshot) {
		s.Kubeadm.ExternalEtcd = true
		for i := range 3 {
			delete(s.Nodes[i].Static, "etcd")
			if s.Nodes[i].Report == nil {
				continue
			}
			s.Nodes[i].Report.Etcd = nil
			s.Nodes[i].Report.ExternalEtcd = &refitv1alpha1.ExternalEtcdFacts{ClusterID: "c1", DBSizeMiB: 100, QuotaMiB: 2048}
			for _, name := range []string{"etcd-1", "etcd-2", "etcd-3"} {
				m := refitv1alpha1.ExternalEtcdMember{Name: name, ID: "a1", Version: "3.6.6", Healthy: true, Leader: name == "etcd-1"}
				s.Nodes[i].Report.ExternalEtcd.Members = append(s.Nodes[i].Report.ExternalEtcd.Members, m)
			}
		}
	}
	externally := func(node string, change func(*refitv1alpha1.ExternalEtcdFacts)) change {
		return all(external, onReport(node, func(r *refitv1alpha1.NodeReportStatus) { change(r.ExternalEtcd) }))
	}
	unlabelled := onNode("cp-3", func(n *cluster.Node) { n.ControlPlane = false })
	two := func(s *snapshot) {
		s.Nodes = slices.Delete(s.Nodes, 2, 3)
		for i := range 2 {
			s.Nodes[i].Report.Etcd.Members = []string{"cp-1", "cp-2"}
		}
	}
	return []situation{
		{check: "EtcdMemberUnhealthy", name: "all healthy"},
		{check: "EtcdMemberUnhealthy", name: "one unhealthy", change: etcd(func(e *refitv1alpha1.EtcdFacts) { e.Healthy = false }), want: Block},
		{check: "EtcdMemberUnhealthy", name: "unreachable for its agent", change: onReport("cp-2", func(r *refitv1alpha1.NodeReportStatus) { r.Etcd = nil }), want: Block},
		{
			check: "EtcdMemberUnhealthy", name: "no agent, its pod is not ready", bare: true, want: Block,
			change: staticPod("cp-2", "etcd", func(p *cluster.StaticPod) { p.Ready = false }),
		},
		{check: "EtcdMemberUnhealthy", name: "no agent, its pod is ready", bare: true},
		{
			check: "EtcdMemberUnhealthy", name: "no agent, unreachable node", bare: true,
			change: all(staticPod("cp-2", "etcd", func(p *cluster.StaticPod) { p.Ready = false }), onNode("cp-2", func(n *cluster.Node) { n.Ready = cluster.No })),
		},
		{check: "EtcdMemberUnhealthy", name: "external etcd", change: external},
		{
			check: "EtcdMemberUnhealthy", name: "external etcd, one member unhealthy", want: Block,
			change: all(externally("cp-2", func(e *refitv1alpha1.ExternalEtcdFacts) {
				e.Members[1].Healthy, e.Members[1].Problem = false, "connection refused"
			})),
		},
		{
			check: "EtcdMemberUnhealthy", name: "external etcd, unreachable from one node", want: Block,
			change: all(external, onReport("cp-2", func(r *refitv1alpha1.NodeReportStatus) { r.ExternalEtcd = nil })),
		},

		{check: "EtcdTwoMembers", name: "three"},
		{check: "EtcdTwoMembers", name: "two", change: two, want: Block},
		{check: "EtcdTwoMembers", name: "one", single: true},
		{check: "EtcdTwoMembers", name: "three, one on a node without the label", change: unlabelled},
		{check: "EtcdTwoMembers", name: "three, one on a node without the label, no agents", change: unlabelled, bare: true},
		{
			check: "EtcdTwoMembers", name: "two, one on a node without the label", want: Block,
			change: all(two, onNode("cp-2", func(n *cluster.Node) { n.ControlPlane = false })),
		},

		{check: "EtcdLearner", name: "all are voters"},
		{check: "EtcdLearner", name: "one learner", change: etcd(func(e *refitv1alpha1.EtcdFacts) { e.Learner = true }), want: Block},

		{
			check: "EtcdLearner", name: "external etcd, one learner", want: Block,
			change: externally("cp-1", func(e *refitv1alpha1.ExternalEtcdFacts) { e.Members[2].Learner, e.Members[2].Healthy = true, false }),
		},

		{check: "EtcdAlarm", name: "no alarm"},
		{
			check: "EtcdAlarm", name: "external etcd", want: Block,
			change: externally("cp-1", func(e *refitv1alpha1.ExternalEtcdFacts) { e.Alarms = []string{"NOSPACE of etcd-1"} }),
		},
		{check: "EtcdAlarm", name: "no space", change: etcd(func(e *refitv1alpha1.EtcdFacts) { e.Alarms = []string{"NOSPACE"} }), want: Block},

		{check: "EtcdNearQuota", name: "at 79 percent", change: etcd(func(e *refitv1alpha1.EtcdFacts) { e.DBSizeMiB = 1630 })},
		{check: "EtcdNearQuota", name: "at 80 percent", change: etcd(func(e *refitv1alpha1.EtcdFacts) { e.DBSizeMiB = 1639 }), want: Block},

		{check: "EtcdNearQuota", name: "external etcd", change: external},
		{
			check: "EtcdNearQuota", name: "external etcd at 80 percent", want: Block,
			change: externally("cp-1", func(e *refitv1alpha1.ExternalEtcdFacts) { e.DBSizeMiB = 1639 }),
		},

		{check: "EtcdTooOld", name: "3.6 to 3.6"},
		{check: "EtcdTooOld", name: "3.5.26 to 3.6", bare: true, change: stacked("3.5.26"), from: "v1.33.9", to: "v1.34.4"},
		{check: "EtcdTooOld", name: "3.5.21 to 3.6, version from the image", bare: true, change: stacked("3.5.21"), from: "v1.33.9", to: "v1.34.4", want: Block},
		{check: "EtcdTooOld", name: "newer than the version of the hop", bare: true, change: stacked("3.6.11")},
		{
			check: "EtcdTooOld", name: "newer than the version of the first hop, upgraded by the second", bare: true, to: "v1.37.1",
			change: all(stacked("3.7.0"), func(s *snapshot) { s.Releases[0].Payload.Etcd = "3.8.0" }),
		},
		{
			check: "EtcdTooOld", name: "the newest ClusterRelease of the first hop has another version", bare: true, to: "v1.37.1", want: Block,
			change: all(clustertest.Released("v1.36.9"), func(s *snapshot) { s.Releases[len(s.Releases)-1].Payload.Etcd = "3.9.0" }),
		},
		{check: "EtcdTooOld", name: "one minor version per hop", bare: true, change: stacked("3.5.26"), from: "v1.33.9", to: "v1.37.1"},
		{check: "EtcdTooOld", name: "two minor versions in one hop", bare: true, change: stacked("3.5.26"), from: "v1.36.3", to: "v1.37.1", want: Block},
		{
			check: "EtcdTooOld", name: "image by digest, no agent", bare: true, want: Block, unknown: true, deferred: true,
			change: staticPod("cp-2", "etcd", func(p *cluster.StaticPod) { p.Version, p.Image = "", "registry.k8s.io/etcd@sha256:1" }),
		},

		{check: "EtcdTooOld", name: "pinned tag, the version of the hop is unreachable", bare: true, change: all(stacked("3.5.26"), pinned("3.6.6-0")), from: "v1.36.3", to: "v1.37.1"},
		{check: "EtcdTooOld", name: "pinned to an unreachable version", bare: true, change: pinned("3.8.0-0"), want: Block},

		{check: "EtcdTagPinned", name: "not pinned"},
		{check: "EtcdTagPinned", name: "pinned to the version of the hop", change: pinned("3.6.8-0")},
		{check: "EtcdTagPinned", name: "pinned to the running version, the hop has a newer one", change: pinned("3.6.6-0"), want: Warn},
		{check: "EtcdTagPinned", name: "pinned below the running version", change: pinned("3.5.26-0"), want: Warn},
		{check: "EtcdTagPinned", name: "pinned to a build of the version of the hop", change: pinned("3.6.8_ours")},
		{check: "EtcdTagPinned", name: "pinned to a tag that is not a version", change: pinned("ours"), want: Block},
		{check: "EtcdTagPinned", name: "external etcd", change: all(external, pinned("3.5.26-0"))},

		{check: "EtcdMembershipDiffers", name: "all member lists match"},
		{
			check: "EtcdMembershipDiffers", name: "surplus member", want: Block,
			change: etcd(func(e *refitv1alpha1.EtcdFacts) { e.Members = []string{"cp-1", "cp-2", "cp-3", "cp-old"} }),
		},
		{check: "EtcdMembershipDiffers", name: "a node without the label", change: unlabelled, want: Block},
		{
			check: "EtcdMembershipDiffers", name: "a node without the label and without an agent", want: Block,
			change: all(unlabelled, onNode("cp-3", func(n *cluster.Node) { n.Report = nil })),
		},
		{
			check: "EtcdMembershipDiffers", name: "a node without the label, known only by its name", want: Block,
			change: all(unlabelled, onNode("cp-3", func(n *cluster.Node) { n.Report, n.Static = nil, nil })),
		},
		{
			check: "EtcdMembershipDiffers", name: "a node without the label and a surplus member", want: Block,
			change: all(unlabelled, etcd(func(e *refitv1alpha1.EtcdFacts) { e.Members = []string{"cp-1", "cp-2", "cp-3", "cp-old"} })),
		},

		{
			check: "EtcdMembershipDiffers", name: "API servers with different external etcd clusters", want: Block,
			change: externally("cp-3", func(e *refitv1alpha1.ExternalEtcdFacts) { e.ClusterID = "c2" }),
		},

		{check: "EtcdUnknown", name: "on the control plane"},
		{check: "EtcdUnknown", name: "missing on one node", bare: true, want: Block, unknown: true, change: onNode("cp-3", func(n *cluster.Node) { delete(n.Static, "etcd") })},
		{check: "EtcdUnknown", name: "no information", bare: true, want: Block, unknown: true, change: func(s *snapshot) { s.Kubeadm, s.Nodes = nil, s.Nodes[3:] }},

		{check: "EtcdExternalTooOld", name: "stacked"},
		{check: "EtcdExternalTooOld", name: "supported", change: external},
		{
			check: "EtcdExternalTooOld", name: "the oldest that kubeadm accepts",
			change: externally("cp-1", func(e *refitv1alpha1.ExternalEtcdFacts) { e.Members[0].Version = "3.5.24" }),
		},
		{
			check: "EtcdExternalTooOld", name: "older than kubeadm accepts", want: Block,
			change: externally("cp-1", func(e *refitv1alpha1.ExternalEtcdFacts) { e.Members[0].Version = "3.5.23" }),
		},
		{
			check: "EtcdExternalTooOld", name: "another minor version than kubeadm accepts", want: Block,
			change: externally("cp-1", func(e *refitv1alpha1.ExternalEtcdFacts) { e.Members[0].Version = "3.4.37" }),
		},

		{check: "EtcdExternal", name: "stacked"},
		{check: "EtcdExternal", name: "external", change: external, want: Info},

		{check: "BackupProven", name: "agents and stacked etcd"},
		{check: "BackupProven", name: "external etcd", change: external},
		{check: "BackupProven", name: "old agents", change: oldAgents, want: Block},
		{check: "BackupProven", name: "old agents and an upgraded control plane", change: all(oldAgents, upgradedControlPlane)},
		{check: "BackupProven", name: "waived", spec: waivedBackup, want: Block},
		{check: "BackupProven", name: "workers only", change: oldAgents, spec: workersOnly},
		{check: "BackupStoreMissing", name: "the store exists"},
		{check: "BackupStoreMissing", name: "the store does not exist", change: withoutStore, want: Block},
		{check: "BackupStoreMissing", name: "another store is required", spec: func(s *refitv1alpha1.ClusterUpgradeSpec) {
			s.Backup = &refitv1alpha1.UpgradeBackup{Store: "offsite"}
		}, want: Block},
		{check: "BackupStoreMissing", name: "Refit is not installed yet", change: all(withoutStore, func(s *snapshot) { s.Installed = false }), want: Block, deferred: true},
		{check: "BackupStoreMissing", name: "the backup is waived", change: withoutStore, spec: waivedBackup},
		{check: "BackupStoreMissing", name: "external etcd", change: all(withoutStore, external), want: Block},
		{check: "BackupStoreMissing", name: "the control plane is upgraded already", change: all(withoutStore, upgradedControlPlane)},
		{check: "BackupStoreMissing", name: "workers only", change: withoutStore, spec: workersOnly},
		{check: "WindowMissing", name: "no window"},
		{check: "WindowMissing", name: "the window exists", change: window("Europe/Berlin", ""), spec: inWindow},
		{check: "WindowMissing", name: "the window does not exist", spec: inWindow, want: Block},
		{check: "WindowMissing", name: "its time zone is unknown", change: window("Europe/Atlantis", ""), spec: inWindow, want: Block},
		{check: "WindowMissing", name: "a blackout of years", change: window("UTC", "2060-01-01T00:00"), spec: inWindow, want: Block},
		{check: "BackupOnSameHost", name: "a directory", single: true, change: withStore("/mnt"), want: Warn},
		{check: "BackupOnSameHost", name: "a bucket", single: true, change: withStore("")},
		{check: "BackupOnSameHost", name: "three control plane hosts", change: withStore("/mnt")},
		{check: "BackupIdentityUnproven", name: "unknown", change: withStore("/mnt")},
		{check: "BackupIdentityUnproven", name: "proven", change: withIdentity(cluster.Yes)},
		{check: "BackupIdentityUnproven", name: "never proven", change: withIdentity(cluster.No), want: Warn},
		{check: "BackupIdentityUnproven", name: "no backup", change: withIdentity(cluster.No), spec: waivedBackup},
		{check: "RehearsalUnknown", name: "no open question", change: all(withStore("/mnt"), rehearsed())},
		{check: "RehearsalUnknown", name: "an open question", change: all(withStore("/mnt"), rehearsed(openQuestion)), want: Warn, unknown: true},
		{check: "RehearsalUnknown", name: "an open question of a backup that is deleted", change: all(withStore("/mnt"), rehearsed(openQuestion), deletingBackups)},
		{check: "RehearsalUnknown", name: "an open question, and no rehearsal is required", change: all(withStore("/mnt"), rehearsed(openQuestion)), spec: restored},
	}
}

// kubeletGates sets the feature gates of all kubelets, and those that worker-2 has.
func kubeletGates(shared, effective map[string]bool) change {
	return func(s *snapshot) {
		s.Kubeadm.Kubelet.FeatureGates = shared
		onReport("worker-2", func(r *refitv1alpha1.NodeReportStatus) { r.Kubelet.FeatureGates = effective })(s)
	}
}

// withoutDeclaredFeatures disables a gate and those that depend on it, except one.
func withoutDeclaredFeatures(except bool) map[string]bool {
	return map[string]bool{
		"NodeDeclaredFeatures": false, "ExtendWebSocketsToKubelet": except, "InPlacePodLevelResourcesVerticalScaling": false,
		"InPlacePodVerticalScalingInitContainers": false, "RestartAllContainersOnContainerExits": false,
	}
}

func componentSituations() []situation {
	gates := func(component, list string) change { return extraArgs(component, "feature-gates", list) }
	return []situation{
		{check: "RemovedComponentFlag", name: "supported flag", change: extraArgs("kube-apiserver", "profiling", "")},
		{check: "RemovedComponentFlag", name: "flag removed by the last of two hops", change: extraArgs("kube-controller-manager", "concurrent-service-syncs", ""), to: "v1.37.1", want: Block},
		{check: "RemovedComponentFlag", name: "flag removed by a later version", change: extraArgs("kube-controller-manager", "concurrent-service-syncs", "")},
		{check: "RemovedComponentFlag", name: "set manually in one pod", change: podFlag("kube-controller-manager", "concurrent-service-syncs", ""), to: "v1.37.1", want: Warn},
		{check: "RemovedComponentFlag", name: "unknown flag", change: extraArgs("kube-apiserver", "vendor-flag", ""), want: Warn, unknown: true},
		{check: "RemovedComponentFlag", name: "only workers are upgraded", change: extraArgs("kube-apiserver", "vendor-flag", ""), to: "v1.35.4", spec: scope(refitv1alpha1.ScopeWorkers)},

		{check: "RemovedFeatureGate", name: "supported gate", change: gates("kube-apiserver", "KubeletPSI=true")},
		{check: "RemovedFeatureGate", name: "gate removed by the hop", change: gates("kube-apiserver", "ServiceTrafficDistribution=true"), want: Block},
		{check: "RemovedFeatureGate", name: "gate locked to another value by the hop", change: gates("kube-apiserver", "ImageVolume=false"), want: Block},
		{check: "RemovedFeatureGate", name: "set manually in one pod", change: podFlag("kube-scheduler", "feature-gates", "TopologyAwareHints=true"), want: Warn},
		{check: "RemovedFeatureGate", name: "set in the kubeadm configuration and in the pod", change: all(gates("kube-scheduler", "TopologyAwareHints=true"), podFlag("kube-scheduler", "feature-gates", "TopologyAwareHints=true")), want: Block},
		{check: "RemovedFeatureGate", name: "set for all kubelets", change: func(s *snapshot) { s.Kubeadm.Kubelet.FeatureGates = map[string]bool{"MemoryManager": true} }, want: Block},
		{check: "RemovedFeatureGate", name: "set for kube-proxy", change: func(s *snapshot) { s.Kubeadm.ProxyGates = map[string]bool{"TopologyAwareHints": true} }, want: Block},
		{
			check: "RemovedFeatureGate", name: "set for one kubelet", want: Block,
			change: onReport("worker-2", func(r *refitv1alpha1.NodeReportStatus) {
				r.Kubelet.FeatureGates = map[string]bool{"MemoryManager": true}
			}),
		},

		{check: "FeatureGateIncomplete", name: "dependencies enabled", change: gates("kube-apiserver", "ImageVolumeWithDigest=true")},
		{
			check: "FeatureGateIncomplete", name: "dependency required from this hop on", want: Block,
			change: gates("kube-apiserver", "NodeDeclaredFeatures=false"),
		},
		{
			check: "FeatureGateIncomplete", name: "one kubelet adds a gate, and all enable its dependency",
			change: kubeletGates(map[string]bool{"ClusterTrustBundle": true}, map[string]bool{"ClusterTrustBundle": true, "ClusterTrustBundleProjection": true}),
		},
		{
			check: "FeatureGateIncomplete", name: "one kubelet enables a gate whose dependency all disable", want: Block,
			change: kubeletGates(withoutDeclaredFeatures(false), withoutDeclaredFeatures(true)),
		},

		{check: "RemovedAdmissionPlugin", name: "supported plugin", change: extraArgs("kube-apiserver", "enable-admission-plugins", "NodeRestriction")},
		{
			check: "RemovedAdmissionPlugin", name: "plugin removed by the hop", from: "v1.36.3", to: "v1.37.1", want: Block,
			change: extraArgs("kube-apiserver", "enable-admission-plugins", "NodeRestriction,PodGroupWorkloadExists"),
		},
		{
			check: "RemovedAdmissionPlugin", name: "unknown plugin", want: Warn, unknown: true,
			change: extraArgs("kube-apiserver", "disable-admission-plugins", "VendorPlugin"),
		},

		{check: "RemovedRuntimeConfig", name: "all beta APIs", change: extraArgs("kube-apiserver", "runtime-config", "api/beta=true")},
		{check: "RemovedRuntimeConfig", name: "version removed by the hop", change: extraArgs("kube-apiserver", "runtime-config", "scheduling.k8s.io/v1alpha1=true"), want: Block},

		{check: "RemovedController", name: "kubeadm default"},
		{check: "RemovedController", name: "supported alias", change: extraArgs("kube-controller-manager", "controllers", "*,-ttl")},
		{
			check: "RemovedController", name: "alias of a controller removed by the hop", to: "v1.37.1", want: Block,
			change: extraArgs("kube-controller-manager", "controllers", "*,-service"),
		},
		{check: "RemovedController", name: "supported controller disabled", change: extraArgs("kube-controller-manager", "controllers", "*,-ttl-controller")},
		{
			check: "RemovedController", name: "disabled controller removed by the hop", to: "v1.37.1", want: Block,
			change: extraArgs("kube-controller-manager", "controllers", "*,-service-lb-controller"),
		},

		{check: "RemovedKubeletFlag", name: "supported flags"},
		{
			check: "RemovedKubeletFlag", name: "flag removed by the last of two hops", to: "v1.37.1", want: Block,
			change: onReport("worker-1", func(r *refitv1alpha1.NodeReportStatus) { r.Kubelet.Flags = append(r.Kubelet.Flags, "containerd") }),
		},
		{
			check: "RemovedKubeletFlag", name: "flag removed by kubeadm during the upgrade", from: "v1.34.4", to: "v1.35.4", want: Warn,
			change: onReport("worker-1", func(r *refitv1alpha1.NodeReportStatus) { r.Kubelet.Flags = []string{"pod-infra-container-image"} }),
		},
		{
			check: "RemovedKubeletFlag", name: "flag removed by kubeadm at a version that the worker skips", from: "v1.34.4", to: "v1.36.3", want: Block,
			change: onReport("worker-1", func(r *refitv1alpha1.NodeReportStatus) { r.Kubelet.Flags = []string{"pod-infra-container-image"} }),
		},
		{
			check: "RemovedKubeletFlag", name: "flags not reported by the agent", want: Warn, unknown: true,
			change: onReport("worker-1", func(r *refitv1alpha1.NodeReportStatus) { r.Kubelet = nil }),
		},
		{
			check: "RemovedKubeletFlag", name: "more flags than a report can list", want: Warn, unknown: true,
			change: onReport("worker-1", func(r *refitv1alpha1.NodeReportStatus) { r.Truncated = []string{"missingImages", "kubelet.flags"} }),
		},

		{check: "RemovedKubeletField", name: "supported fields"},
		{
			check: "RemovedKubeletField", name: "map entries", from: "v1.33.9", to: "v1.34.4",
			change: func(s *snapshot) {
				s.Kubeadm.Kubelet.Fields = []string{"evictionHard.memory.available", "featureGates.MemoryManager", "registerWithTaints[].key"}
			},
		},
		{check: "RemovedKubeletField", name: "field unknown to all versions", change: func(s *snapshot) { s.Kubeadm.Kubelet.Fields = []string{"vendorField"} }},
		{
			check: "RemovedKubeletField", name: "field unknown to the hop, current version without facts", from: "v1.33.9", to: "v1.34.4", want: Warn,
			change: func(s *snapshot) { s.Kubeadm.Kubelet.Fields = []string{"dynamicConfigDir"} },
		},
		{
			check: "RemovedKubeletField", name: "set for one kubelet", from: "v1.33.9", to: "v1.34.4", want: Warn,
			change: onReport("worker-1", func(r *refitv1alpha1.NodeReportStatus) { r.Kubelet.ConfigFields = []string{"dynamicConfigDir"} }),
		},
	}
}

func kubeadmSituations() []situation {
	gate := func(name string) change {
		return func(s *snapshot) { s.Kubeadm.FeatureGates = map[string]bool{name: true} }
	}
	return []situation{
		{check: "KubeadmConfigMissing", name: "present"},
		{check: "KubeadmConfigMissing", name: "missing", change: all(func(s *snapshot) { s.Kubeadm = nil }, unread(cluster.PartKubeadm, cluster.GapAbsent)), want: Block},

		{check: "KubeadmConfigMissing", name: "kubelet configuration missing", change: unreadObject(kubeletConfig, cluster.GapAbsent), want: Block},
		{check: "KubeadmConfigMissing", name: "kube-proxy configuration missing", change: unreadObject(proxyConfig, cluster.GapAbsent)},

		{check: "KubeadmConfigTooOld", name: "v1beta4"},
		{check: "KubeadmConfigTooOld", name: "v1beta3 to 1.37", change: func(s *snapshot) { s.Kubeadm.APIVersion = "kubeadm.k8s.io/v1beta3" }, from: "v1.36.3", to: "v1.37.1", want: Block},
		{check: "KubeadmConfigTooOld", name: "v1beta3 over 1.36 to 1.37", change: func(s *snapshot) { s.Kubeadm.APIVersion = "kubeadm.k8s.io/v1beta3" }, to: "v1.37.1"},

		{check: "KubeadmVersionDiffers", name: "same version"},
		{check: "KubeadmVersionDiffers", name: "different version", change: func(s *snapshot) { s.Kubeadm.KubernetesVersion = "v1.34.2" }, want: Warn},

		{check: "KubeadmGateInvalid", name: "supported gate", change: gate("NodeLocalCRISocket")},
		{check: "KubeadmGateInvalid", name: "gate removed by the hop", change: gate("ControlPlaneKubeletLocalMode"), want: Block},
		{check: "KubeadmGateInvalid", name: "RootlessControlPlane", change: gate("RootlessControlPlane"), want: Block},
		{check: "KubeadmGateInvalid", name: "RootlessControlPlane disabled", change: func(s *snapshot) { s.Kubeadm.FeatureGates = map[string]bool{"RootlessControlPlane": false} }},

		{check: "ConfigurationEdited", name: "the first patch of a field", change: patched("", "")},
		{check: "ConfigurationEdited", name: "the value of the last patch", change: patched("0.1", "0.1")},
		{check: "ConfigurationEdited", name: "another value without a patch before", change: patched("9", ""), want: Warn},
		{check: "ConfigurationEdited", name: "edited since the last patch", change: patched("9", "0.1"), want: Warn},
		{
			check: "ConfigurationEdited", name: "only workers", change: patched("9", ""),
			spec: func(s *refitv1alpha1.ClusterUpgradeSpec) { s.Scope = refitv1alpha1.ScopeWorkers },
		},

		{check: "CorefilePluginUnknown", name: "kubeadm default"},
		{check: "CorefilePluginUnknown", name: "unsupported plugin", change: func(s *snapshot) { s.Kubeadm.CorefilePlugins = append(s.Kubeadm.CorefilePlugins, "dnstap") }, want: Block},
		{check: "CorefilePluginUnknown", name: "unsupported plugin, CoreDNS not upgraded", change: func(s *snapshot) {
			s.Kubeadm.CorefilePlugins, s.Kubeadm.DNSVersion = append(s.Kubeadm.CorefilePlugins, "dnstap"), "v1.14.2"
		}},
		{check: "CorefilePluginUnknown", name: "unsupported plugin, CoreDNS pinned to its version", change: func(s *snapshot) {
			s.Kubeadm.CorefilePlugins, s.Kubeadm.DNSImageTag = append(s.Kubeadm.CorefilePlugins, "dnstap"), "v1.13.1"
		}},
		{check: "CorefilePluginUnknown", name: "unsupported plugin, CoreDNS not managed by kubeadm", change: func(s *snapshot) {
			s.Kubeadm.CorefilePlugins, s.Kubeadm.HasDNS = append(s.Kubeadm.CorefilePlugins, "dnstap"), false
		}},

		{check: "IPVSMode", name: "iptables"},
		{check: "IPVSMode", name: "ipvs", change: func(s *snapshot) { s.Kubeadm.ProxyMode = "ipvs" }, want: Warn},
	}
}

func nodeSituations() []situation {
	notReady := onWorker(func(n *cluster.Node) { n.Ready = cluster.No })
	cordoned := onWorker(func(n *cluster.Node) { n.Unschedulable = true })
	both := func(fs ...func(*refitv1alpha1.ClusterUpgradeSpec)) func(*refitv1alpha1.ClusterUpgradeSpec) {
		return func(spec *refitv1alpha1.ClusterUpgradeSpec) {
			for _, f := range fs {
				f(spec)
			}
		}
	}
	return []situation{
		{check: "NodeNotReady", name: "all ready"},
		{check: "NodeNotReady", name: "one not ready, maxUnavailable 1", change: notReady, want: Block},
		{check: "NodeNotReady", name: "one not ready, maxUnavailable 2", change: notReady, spec: twoAtOnce, want: Warn},
		{
			check: "NodeNotReady", name: "one that is joining, maxUnavailable 1", want: Warn,
			change: all(notReady, onWorker(func(n *cluster.Node) {
				n.CreatedAt, n.ReadySince, n.Pods = clustertest.Now.Add(-5*time.Minute), clustertest.Now.Add(-5*time.Minute), nil
			})),
		},
		{
			check: "NodeNotReady", name: "one that was ready for a moment and runs pods, maxUnavailable 1", want: Block,
			change: all(notReady, onWorker(func(n *cluster.Node) {
				n.CreatedAt, n.ReadySince = clustertest.Now.Add(-5*time.Minute), clustertest.Now.Add(-4*time.Minute)
			})),
		},
		{
			check: "NodeNotReady", name: "one that joined long ago and never was ready, maxUnavailable 1", want: Block,
			change: all(notReady, onWorker(func(n *cluster.Node) { n.CreatedAt = n.ReadySince.Add(-time.Second) })),
		},
		{check: "NodeNotReady", name: "one unreachable", change: onWorker(func(n *cluster.Node) { n.Ready = cluster.Unknown }), want: Block, unknown: true},
		{check: "NodeNotReady", name: "waived", change: notReady, spec: waiver("NodeNotReady", "Node worker-1"), want: Warn},
		{check: "NodeNotReady", name: "excluded from the upgrade", change: notReady, spec: scope(refitv1alpha1.ScopeControlPlane)},
		{
			check: "NodeNotReady", name: "excluded by the nodeSelector, and uses up maxUnavailable", want: Block,
			change: all(notReady, onNode("worker-2", func(n *cluster.Node) { n.Labels["wave"] = "now" })),
			spec:   func(spec *refitv1alpha1.ClusterUpgradeSpec) { spec.NodeSelector = refitv1alpha1.Labels{"wave": "now"} },
		},
		{check: "NodeNotReady", name: "Windows node, which is in no pool", change: all(notReady, onWorker(func(n *cluster.Node) { n.OS = "windows" }))},
		{
			check: "NodeNotReady", name: "one not ready, another cordoned and waived, maxUnavailable 2", want: Warn,
			change: all(notReady, onNode("worker-2", func(n *cluster.Node) { n.Unschedulable = true })),
			spec:   both(twoAtOnce, waiver("NodeCordonedByHand", "Node worker-2")),
		},

		{check: "NodeCordonedByHand", name: "none"},
		{check: "NodeCordonedByHand", name: "by Refit", change: onWorker(func(n *cluster.Node) { n.Unschedulable, n.CordonedBy = true, "uid" })},
		{check: "NodeCordonedByHand", name: "one cordoned, maxUnavailable 1", change: cordoned, want: Block},
		{check: "NodeCordonedByHand", name: "one cordoned, maxUnavailable 2", change: cordoned, spec: twoAtOnce, want: Warn},
		{
			check: "NodeCordonedByHand", name: "one cordoned, another not ready, maxUnavailable 2", want: Block, spec: twoAtOnce,
			change: all(cordoned, onNode("worker-2", func(n *cluster.Node) { n.Ready = cluster.No })),
		},
		{check: "NodeCordonedByHand", name: "waived", change: cordoned, spec: both(waiver("NodeCordonedByHand", "Node worker-1")), want: Warn},
		{check: "NodeCordonedByHand", name: "a control plane node", change: onNode("cp-1", func(n *cluster.Node) { n.Unschedulable = true }), want: Warn},

		{check: "NodeUnderPressure", name: "none"},
		{check: "NodeUnderPressure", name: "memory", change: onWorker(func(n *cluster.Node) { n.Pressure = []string{"MemoryPressure"} }), want: Warn},
		{check: "NodeUnderPressure", name: "disk", change: onWorker(func(n *cluster.Node) { n.Pressure = []string{"DiskPressure"} }), want: Block},

		{check: "SelectorMatchesNothing", name: "no selector"},
		{check: "SelectorMatchesNothing", name: "a worker has the label", change: onWorker(func(n *cluster.Node) { n.Labels["pool"] = "batch" }), spec: selecting("batch")},
		{check: "SelectorMatchesNothing", name: "no worker has the label", spec: selecting("batch"), want: Warn},
		{check: "SelectorMatchesNothing", name: "no worker is in a pool", want: Warn, spec: func(spec *refitv1alpha1.ClusterUpgradeSpec) {
			spec.Pools = []refitv1alpha1.Pool{{Name: "batch", NodeSelector: map[string]string{"pool": "batch"}}}
		}},
		{check: "SelectorMatchesNothing", name: "only the control plane is upgraded", spec: func(spec *refitv1alpha1.ClusterUpgradeSpec) {
			selecting("batch")(spec)
			spec.Scope = refitv1alpha1.ScopeControlPlane
		}},

		{check: "AddonImagesNotPrefetched", name: "the whole cluster", change: archives},
		{check: "AddonImagesNotPrefetched", name: "images are pulled", spec: scope(refitv1alpha1.ScopeControlPlane)},
		{check: "AddonImagesNotPrefetched", name: "only the control plane", change: archives, spec: scope(refitv1alpha1.ScopeControlPlane), want: Warn},
		{
			check: "AddonImagesNotPrefetched", name: "one worker is not selected", want: Warn,
			change: all(archives, onNode("worker-1", func(n *cluster.Node) { n.Labels["wave"] = "now" })),
			spec:   func(spec *refitv1alpha1.ClusterUpgradeSpec) { spec.NodeSelector = refitv1alpha1.Labels{"wave": "now"} },
		},

		{check: "WindowsNode", name: "Linux only"},
		{check: "WindowsNode", name: "one", change: onWorker(func(n *cluster.Node) { n.OS = "windows" }), want: Warn},

		{check: "VirtualNode", name: "machines only"},
		{check: "VirtualNode", name: "one", change: func(s *snapshot) { s.VirtualNodes = []string{"turin"} }, want: Info},
	}
}

// inArchives puts a file of each ClusterRelease into an archive.
func inArchives(s *snapshot) {
	for i := range s.Releases {
		files := slices.Clone(s.Releases[i].Payload.Files)
		files[0].Archive = &refitv1alpha1.ReleaseArchive{Member: "bin/" + files[0].Name}
		s.Releases[i].Payload.Files = files
	}
}

func agentSituations() []situation {
	report := func(f func(*refitv1alpha1.NodeReportStatus)) change { return onReport("worker-1", f) }
	return []situation{
		{check: "AgentMissing", name: "on every node"},
		{check: "AgentMissing", name: "on no node", bare: true, want: Block, unknown: true, deferred: true},
		{
			check: "AgentMissing", name: "Refit is not installed", bare: true, want: Block, unknown: true, deferred: true,
			change: func(s *snapshot) { s.Installed = false },
		},
		{check: "AgentMissing", name: "missing on one node", change: onWorker(func(n *cluster.Node) { n.Report = nil }), want: Block, unknown: true, deferred: true},
		{check: "AgentMissing", name: "missing on an excluded node", change: onWorker(func(n *cluster.Node) { n.Report = nil }), spec: scope(refitv1alpha1.ScopeControlPlane)},

		{check: "AgentTooOld", name: "the format that the orders need"},
		{check: "AgentTooOld", name: "older", change: report(func(r *refitv1alpha1.NodeReportStatus) { r.OrderFormat = 0 }), want: Block},
		{check: "AgentTooOld", name: "reads a ClusterRelease with archives", change: inArchives},
		{
			check: "AgentTooOld", name: "does not read a ClusterRelease with archives", want: Block,
			change: all(inArchives, report(func(r *refitv1alpha1.NodeReportStatus) { r.PayloadVersion = 0 })),
		},
		{
			check: "AgentTooOld", name: "does not read patches of the kubeadm configuration",
			change: all(patched("", ""), report(func(r *refitv1alpha1.NodeReportStatus) { r.PayloadVersion = 2 })), want: Block,
		},
		{check: "AgentTooOld", name: "reads a ClusterRelease without archives", change: report(func(r *refitv1alpha1.NodeReportStatus) { r.PayloadVersion = 0 })},
		{
			check: "AgentTooOld", name: "does not read the version of a ClusterRelease that would not need it", want: Block,
			change: all(func(s *snapshot) {
				for i := range s.Releases {
					s.Releases[i].PayloadVersion = 2
				}
			}, report(func(r *refitv1alpha1.NodeReportStatus) { r.PayloadVersion = 1 })),
		},
		{
			check: "AgentTooOld", name: "supports neither the orders nor the ClusterRelease", want: Block,
			change: all(inArchives, report(func(r *refitv1alpha1.NodeReportStatus) { r.OrderFormat, r.PayloadVersion = 0, 0 })),
		},

		{check: "AgentSilent", name: "answered"},
		{check: "AgentSilent", name: "requested seconds ago", change: onWorker(func(n *cluster.Node) { n.ReportRequest = clustertest.Now.Unix() - 10 })},
		{check: "AgentSilent", name: "not answered", change: onWorker(func(n *cluster.Node) { n.ReportRequest = 3 }), want: Block, unknown: true, deferred: true},

		{check: "ReportOfAnotherMachine", name: "same machine"},
		{check: "ReportOfAnotherMachine", name: "joined again under the same name", change: onWorker(func(n *cluster.Node) { n.UID = "new" }), want: Block, unknown: true},

		{check: "ReleaseKeyMissing", name: "pinned"},
		{check: "ReleaseKeyMissing", name: "none", change: report(func(r *refitv1alpha1.NodeReportStatus) { r.ReleaseKeys = nil }), want: Block},
	}
}

func hostSituations() []situation {
	report := func(f func(*refitv1alpha1.NodeReportStatus)) change { return onReport("worker-1", f) }
	certificate := func(name string, left time.Duration, externalCA bool) change {
		return report(func(r *refitv1alpha1.NodeReportStatus) {
			r.Certificates = []refitv1alpha1.CertificateFacts{{Name: name, NotAfter: metav1.NewTime(clustertest.Now.Add(left)), ExternalCA: externalCA}}
		})
	}
	ofControlPlane := func(left time.Duration, externalCA bool) change {
		return onReport("cp-1", func(r *refitv1alpha1.NodeReportStatus) {
			r.Certificates = []refitv1alpha1.CertificateFacts{{Name: "apiserver", NotAfter: metav1.NewTime(clustertest.Now.Add(left)), ExternalCA: externalCA}}
		})
	}
	inodes := func(percent int32) change {
		return report(func(r *refitv1alpha1.NodeReportStatus) { r.Disks[0].FreeInodesPercent = &percent })
	}
	clock := func(ms int64) change {
		return report(func(r *refitv1alpha1.NodeReportStatus) { r.ClockOffsetMilliseconds = &ms })
	}
	wrapper := func(binary string) change {
		return report(func(r *refitv1alpha1.NodeReportStatus) {
			r.ServiceWrappers = []refitv1alpha1.ServiceWrapper{{Binary: binary, Path: "/usr/local/bin/start-" + binary}}
		})
	}
	configFile := func(path string) change {
		return report(func(r *refitv1alpha1.NodeReportStatus) { r.Kubelet.ConfigFile = path })
	}
	yes, no := true, false
	const day = 24 * time.Hour
	return []situation{
		{check: "PackageKindUnknown", name: "deb"},
		{check: "PackageKindUnknown", name: "rpm", change: report(func(r *refitv1alpha1.NodeReportStatus) { r.PackageKind = refitv1alpha1.PackageRpm })},
		{
			check: "PackageKindUnknown", name: "unknown",
			change: report(func(r *refitv1alpha1.NodeReportStatus) { r.PackageKind = "" }), want: Block, unknown: true,
		},

		{check: "NotInRelease", name: "in the ClusterRelease"},
		{check: "NotInRelease", name: "no file for the architecture", change: report(func(r *refitv1alpha1.NodeReportStatus) { r.Arch = "arm64" }), want: Block},
		{
			check: "NotInRelease", name: "a mixed cluster whose ClusterRelease has both architectures",
			change: all(archives, armFiles, armImages, onReport("worker-1", toARM)),
		},
		{check: "NotInRelease", name: "a mixed cluster and images for one architecture", want: Block, change: all(archives, armFiles, onReport("worker-1", toARM))},
		{check: "NotInRelease", name: "no file for the kind of one part", change: report(func(r *refitv1alpha1.NodeReportStatus) {
			r.Parts = []refitv1alpha1.PartFacts{{Part: refitv1alpha1.PartKubectl, Kind: refitv1alpha1.PackageBinary}}
		}), want: Block},
		{check: "NotInRelease", name: "kubectl is not installed and kubeadm is missing", change: report(func(r *refitv1alpha1.NodeReportStatus) {
			r.Parts = []refitv1alpha1.PartFacts{{Part: refitv1alpha1.PartKubectl, Absent: true}, {Part: refitv1alpha1.PartKubeadm, Absent: true}}
		})},
		{check: "NotInRelease", name: "containerd of another vendor", want: Block, change: all(
			report(func(r *refitv1alpha1.NodeReportStatus) {
				r.Parts = []refitv1alpha1.PartFacts{{Part: refitv1alpha1.PartContainerd, Kind: refitv1alpha1.PackageDeb, Package: "containerd.io"}}
			}),
			func(s *snapshot) {
				f := s.Releases[0].Payload.Files[0]
				f.Part, f.Name, f.Kind, f.OS, f.Arch = refitv1alpha1.PartContainerd, "containerd", refitv1alpha1.PackageDeb, "linux", "amd64"
				s.Releases[0].Payload.Files = append(s.Releases[0].Payload.Files, f)
			})},
		{check: "NotInRelease", name: "rpm", change: report(func(r *refitv1alpha1.NodeReportStatus) { r.PackageKind = refitv1alpha1.PackageRpm }), want: Block},
		{check: "NotInRelease", name: "rpm with rpm packages", change: all(
			report(func(r *refitv1alpha1.NodeReportStatus) { r.PackageKind = refitv1alpha1.PackageRpm }),
			func(s *snapshot) {
				for _, f := range s.Releases[0].Payload.Files {
					f.Kind = refitv1alpha1.PackageRpm
					s.Releases[0].Payload.Files = append(s.Releases[0].Payload.Files, f)
				}
			})},
		{check: "NotInRelease", name: "unknown kind", change: report(func(r *refitv1alpha1.NodeReportStatus) { r.PackageKind = "" })},

		{check: "ServiceWrapped", name: "binaries"},
		{check: "ServiceWrapped", name: "kubelet", change: wrapper("kubelet"), want: Block},
		{check: "ServiceWrapped", name: "containerd that the release does not upgrade", change: wrapper("containerd")},
		{check: "ServiceWrapped", name: "containerd that the release upgrades", want: Block, change: all(
			wrapper("containerd"), func(s *snapshot) { s.Releases[0].Payload.Containerd = "2.1.5" })},

		{check: "KubeletConfigElsewhere", name: "an agent that does not report the file"},
		{check: "KubeletConfigElsewhere", name: "where kubeadm writes", change: configFile("/var/lib/kubelet/config.yaml")},
		{check: "KubeletConfigElsewhere", name: "in the directory of kubespray", change: configFile("/etc/kubernetes/kubelet-config.yaml"), want: Block},
		{
			check: "KubeletConfigElsewhere", name: "only flags", want: Block,
			change: report(func(r *refitv1alpha1.NodeReportStatus) { r.Kubelet.Flags = []string{"kubeconfig"} }),
		},
		{check: "KubeletConfigElsewhere", name: "more flags than a report lists", change: report(func(r *refitv1alpha1.NodeReportStatus) {
			r.Kubelet.Flags, r.Truncated = []string{"kubeconfig"}, []string{"kubelet.flags"}
		})},

		{check: "ReadOnlyHost", name: "writable"},
		{check: "ReadOnlyHost", name: "read-only", change: report(func(r *refitv1alpha1.NodeReportStatus) { r.ReadOnlyPaths = []string{"/usr/bin"} }), want: Block},

		{check: "DiskTooSmall", name: "enough space"},
		{check: "DiskTooSmall", name: "unknown", change: report(func(r *refitv1alpha1.NodeReportStatus) { r.Disks = nil }), want: Block, unknown: true},
		{check: "DiskTooSmall", name: "too little space", change: report(func(r *refitv1alpha1.NodeReportStatus) { r.Disks[0].FreeMiB = 2047 }), want: Block},
		{
			check: "DiskTooSmall", name: "too little space on a host with rpm packages", want: Block,
			change: report(func(r *refitv1alpha1.NodeReportStatus) {
				r.Disks[0].FreeMiB, r.PackageKind = 2047, refitv1alpha1.PackageRpm
			}),
		},
		{
			check: "DiskTooSmall", name: "little space, required space unknown", want: Warn,
			change: report(func(r *refitv1alpha1.NodeReportStatus) { r.Disks[0].FreeMiB, r.Disks[0].NeededMiB = 900, 0 }),
		},

		{check: "InodesLow", name: "10 percent", change: inodes(10)},
		{check: "InodesLow", name: "9 percent", change: inodes(9), want: Warn},
		{check: "InodesLow", name: "4 percent", change: inodes(4), want: Block},
		{check: "InodesLow", name: "not reported", change: report(func(r *refitv1alpha1.NodeReportStatus) { r.Disks[0].FreeInodesPercent = nil })},

		{check: "CgroupV1", name: "v2"},
		{check: "CgroupV1", name: "v1", change: report(func(r *refitv1alpha1.NodeReportStatus) { r.CgroupVersion = 1 }), want: Block},
		{check: "CgroupV1", name: "v1, upgrade to 1.34", change: report(func(r *refitv1alpha1.NodeReportStatus) { r.CgroupVersion = 1 }), from: "v1.33.9", to: "v1.34.4"},
		{
			check: "CgroupV1", name: "v1, allowed by the cluster's kubelet configuration", want: Warn,
			change: all(report(func(r *refitv1alpha1.NodeReportStatus) { r.CgroupVersion = 1 }), func(s *snapshot) { s.Kubeadm.Kubelet.FailCgroupV1 = &no }),
		},
		{
			check: "CgroupV1", name: "v1, allowed only by the configuration of this kubelet, which kubeadm overwrites", want: Block,
			change: report(func(r *refitv1alpha1.NodeReportStatus) { r.CgroupVersion, r.Kubelet.FailCgroupV1 = 1, &no }),
		},
		{check: "CgroupV1", name: "unknown", change: report(func(r *refitv1alpha1.NodeReportStatus) { r.CgroupVersion = 0 }), want: Block, unknown: true},

		{check: "RuntimeUnsupported", name: "containerd"},
		{check: "RuntimeUnsupported", name: "CRI-O", bare: true, want: Block, change: onWorker(func(n *cluster.Node) { n.Runtime = "cri-o://1.30.0" })},
		{check: "RuntimeUnsupported", name: "CRI-O, out of scope", bare: true, spec: scope(refitv1alpha1.ScopeControlPlane), change: onWorker(func(n *cluster.Node) { n.Runtime = "cri-o://1.30.0" })},
		{
			check: "RuntimeUnsupported", name: "only the agent reports CRI-O", want: Block,
			change: all(onWorker(func(n *cluster.Node) { n.Runtime = "" }), report(func(r *refitv1alpha1.NodeReportStatus) { r.CRI.Runtime = "cri-o 1.30.0" })),
		},
		{check: "RuntimeUnsupported", name: "not reported yet", bare: true, change: onWorker(func(n *cluster.Node) { n.Runtime = "" })},

		{check: "CRIRuntimeConfigMissing", name: "containerd 2"},
		{
			check: "CRIRuntimeConfigMissing", name: "not supported by the runtime", want: Warn,
			change: report(func(r *refitv1alpha1.NodeReportStatus) { r.CRI.RuntimeConfig = &no }),
		},
		{
			check: "CRIRuntimeConfigMissing", name: "containerd 1, no agent", bare: true, want: Warn,
			change: onWorker(func(n *cluster.Node) { n.Runtime = "containerd://1.6.20" }),
		},
		{
			check: "CRIRuntimeConfigMissing", name: "containerd 1, upgrade to 1.38", bare: true, to: "v1.38.0", want: Block,
			change: onWorker(func(n *cluster.Node) { n.Runtime = "containerd://1.6.20" }),
		},
		{
			check: "CRIRuntimeConfigMissing", name: "containerd 1, the ClusterRelease upgrades to 2", bare: true,
			change: all(onWorker(func(n *cluster.Node) { n.Runtime = "containerd://1.6.20" }), func(s *snapshot) { s.Releases[0].Payload.Containerd = "2.1.5" }),
		},
		{check: "CRIRuntimeConfigMissing", name: "other runtime, no agent", bare: true, change: onWorker(func(n *cluster.Node) { n.Runtime = "cri-o://1.30.0" })},

		{check: "CertificateExpired", name: "valid"},
		{check: "CertificateExpired", name: "a worker without any", change: report(func(r *refitv1alpha1.NodeReportStatus) { r.Certificates = nil })},
		{
			check: "CertificateExpired", name: "unknown", want: Block, unknown: true,
			change: onReport("cp-1", func(r *refitv1alpha1.NodeReportStatus) { r.Certificates = nil }),
		},
		{check: "CertificateExpired", name: "expired", change: certificate("apiserver", -3*day, false), want: Block},
		{check: "CertificateExpired", name: "a CA, whose key a worker never has", change: certificate("ca", -3*day, true), want: Block},
		{check: "CertificateExpired", name: "expired, external CA", change: certificate("apiserver", -3*day, true), want: Block},

		{check: "CertificateExpiresSoon", name: "in 31 days", change: certificate("apiserver", 31*day, false)},
		{check: "CertificateExpiresSoon", name: "in 29 days, and renewed by the upgrade", change: ofControlPlane(29*day, false), want: Info},
		{check: "CertificateExpiresSoon", name: "in 29 days, external CA", change: ofControlPlane(29*day, true), want: Warn},
		{check: "CertificateExpiresSoon", name: "in 29 days, and a worker is not renewed", change: certificate("apiserver", 29*day, false), want: Warn},
		{check: "CertificateExpiresSoon", name: "a CA", change: certificate("etcd-ca", 29*day, false), want: Warn},
		{check: "CertificateExpiresSoon", name: "kubelet certificate", change: certificate("kubelet-client-current", 5*time.Hour, false), want: Warn},

		{check: "ClockSkewed", name: "4 seconds", change: clock(4000)},
		{check: "ClockSkewed", name: "5 seconds behind", change: clock(-5000), want: Warn},
		{check: "ClockSkewed", name: "2 minutes ahead", change: clock(120_000), want: Block},

		{check: "LocalClockSkewed", name: "30 seconds", change: localClock(30 * time.Second)},
		{check: "LocalClockSkewed", name: "10 minutes behind", change: localClock(-10 * time.Minute), want: Block},
		{check: "APIServerClockSkewed", name: "all are like the others, and this clock is wrong", change: serverClocks(10*time.Minute, -10*time.Minute, -10*time.Minute)},
		{check: "APIServerClockSkewed", name: "one is a minute ahead", change: serverClocks(0, time.Minute), want: Warn},
		{check: "APIServerClockSkewed", name: "one is 10 minutes behind", change: serverClocks(0, -10*time.Minute), want: Block},

		{check: "EndpointUnreachable", name: "reachable"},
		{check: "EndpointUnreachable", name: "unreachable", change: report(func(r *refitv1alpha1.NodeReportStatus) { r.EndpointReachable = &no }), want: Block},
		{check: "EndpointUnreachable", name: "unknown", change: report(func(r *refitv1alpha1.NodeReportStatus) { r.EndpointReachable = nil }), want: Warn, unknown: true},

		{check: "ManifestUnparsable", name: "all valid"},
		{
			check: "ManifestUnparsable", name: "unreadable directory", want: Block, unknown: true,
			change: onReport("cp-1", func(r *refitv1alpha1.NodeReportStatus) { r.Drift = nil }),
		},
		{
			check: "ManifestUnparsable", name: "backup file in the directory", want: Block,
			change: onReport("cp-1", func(r *refitv1alpha1.NodeReportStatus) { r.Drift.UnparsableManifests = []string{"etcd.yaml.orig"} }),
		},

		{check: "ManifestHandEdited", name: "unchanged"},
		{
			check: "ManifestHandEdited", name: "edited", want: Warn,
			change: onReport("cp-1", func(r *refitv1alpha1.NodeReportStatus) {
				r.Drift.Differences = []string{"kube-apiserver: --profiling=false"}
			}),
		},
		{
			check: "ManifestHandEdited", name: "no rendered manifest", want: Info, unknown: true,
			change: onReport("cp-1", func(r *refitv1alpha1.NodeReportStatus) { r.Drift.Known = false }),
		},

		{check: "SecuritySettingLost", name: "none"},
		{
			check: "SecuritySettingLost", name: "nothing to compare with", want: Warn, unknown: true,
			change: onReport("cp-1", func(r *refitv1alpha1.NodeReportStatus) { r.Drift.Known = false }),
		},
		{
			check: "SecuritySettingLost", name: "audit only in the manifest", want: Block,
			change: onReport("cp-1", func(r *refitv1alpha1.NodeReportStatus) {
				r.Drift.SecuritySettings = []string{"kube-apiserver --audit-policy-file", "kube-apiserver mount /etc/kubernetes/audit"}
			}),
		},

		{check: "StaticPodReferencesAPI", name: "upgrade to 1.36", change: onReport("cp-1", func(r *refitv1alpha1.NodeReportStatus) { r.Drift.APIReferences = []string{"kube-vip"} })},
		{
			check: "StaticPodReferencesAPI", name: "upgrade to 1.37", to: "v1.37.1", want: Block,
			change: onReport("cp-1", func(r *refitv1alpha1.NodeReportStatus) { r.Drift.APIReferences = []string{"kube-vip"} }),
		},

		{check: "KubeletReplaced", name: "same version"},
		{check: "KubeletReplaced", name: "different version on disk", change: report(func(r *refitv1alpha1.NodeReportStatus) { r.Versions.KubeletOnDisk = "v1.36.1" }), want: Warn},

		{check: "PackagesHeld", name: "Kubernetes on hold", change: all(
			report(func(r *refitv1alpha1.NodeReportStatus) { r.HeldPackages = []string{"kubeadm", "kubelet"} }),
			func(s *snapshot) { s.Releases[0].Payload.Containerd = "2.1.5" })},
		{check: "PackagesHeld", name: "containerd on hold, the ClusterRelease upgrades it", want: Warn, change: all(
			report(func(r *refitv1alpha1.NodeReportStatus) { r.HeldPackages = []string{"containerd.io"} }),
			func(s *snapshot) { s.Releases[0].Payload.Containerd = "2.1.5" })},

		{check: "HostnameDiffers", name: "with domain", change: report(func(r *refitv1alpha1.NodeReportStatus) { r.Hostname = "Worker-1.example.com" })},
		{check: "HostnameDiffers", name: "different", change: report(func(r *refitv1alpha1.NodeReportStatus) { r.Hostname = "rack-7" }), want: Info},

		{check: "SwapOn", name: "off"},
		{check: "SwapOn", name: "on", change: report(func(r *refitv1alpha1.NodeReportStatus) { r.SwapOn = &yes }), want: Info},
	}
}

func drainSituations() []situation {
	bound := func(f func(*cluster.Workload), allowed int32) change {
		return all(pods("StatefulSet", "db", map[string]int32{"worker-1": 2, "worker-2": 1}, f), clustertest.Budget("shop", "db", allowed, "db"))
	}
	overlap := all(pods("Deployment", "cart", onBoth), clustertest.Budget("shop", "cart", 1, "cart"), clustertest.Budget("shop", "everything", 1, "cart"))
	slow := func(grace int64) change {
		return all(pods("Deployment", "cart", map[string]int32{"worker-1": 9}, func(w *cluster.Workload) { w.GraceSeconds = grace }), clustertest.Budget("shop", "cart", 1, "cart"))
	}
	return []situation{
		{check: "BudgetNeverAllows", name: "one disruption allowed", change: cart(1)},
		{check: "BudgetNeverAllows", name: "no disruption allowed", change: cart(0), want: Block},
		{
			check: "BudgetNeverAllows", name: "one replica and minAvailable 1", want: Block,
			change: all(pods("Deployment", "cart", map[string]int32{"worker-1": 1}), clustertest.Budget("shop", "cart", 0, "cart")),
		},
		{
			check: "BudgetNeverAllows", name: "no disruption allowed, minAvailable as a number", want: Block,
			change: cart(0, func(b *cluster.Budget) { b.MinAvailable, b.MaxUnavailable = "2", "" }),
		},
		{
			check: "BudgetNeverAllows", name: "no disruption allowed, minAvailable as a percentage", want: Block,
			change: cart(0, func(b *cluster.Budget) { b.MinAvailable, b.MaxUnavailable = "100%", "" }),
		},
		{
			check: "BudgetNeverAllows", name: "no disruption allowed, the pod never started",
			change: all(cart(0), onEveryPodSet(func(set *cluster.PodSet) { set.Free = set.Count })),
		},
		{check: "BudgetNeverAllows", name: "no disruption allowed, onBlocked Skip", change: cart(0), spec: whenBlocked(refitv1alpha1.OnBlockedSkip), want: Warn},
		{check: "BudgetNeverAllows", name: "no disruption allowed, onBlocked Delete", change: cart(0), spec: whenBlocked(refitv1alpha1.OnBlockedDelete), want: Warn},
		{check: "BudgetNeverAllows", name: "no disruption allowed, patch upgrade without drain", change: cart(0), from: "v1.36.1"},
		{
			check: "BudgetNeverAllows", name: "no disruption allowed, pool that drains for patch upgrades", change: cart(0), from: "v1.36.1", want: Block,
			spec: func(spec *refitv1alpha1.ClusterUpgradeSpec) {
				spec.Pools = []refitv1alpha1.Pool{{Name: "default", Drain: refitv1alpha1.Drain{When: refitv1alpha1.DrainAllReleases}}}
			},
		},
		{
			check: "BudgetNeverAllows", name: "no disruption allowed, pool with its own policy", change: cart(0), want: Warn,
			spec: func(spec *refitv1alpha1.ClusterUpgradeSpec) {
				spec.Pools = []refitv1alpha1.Pool{{
					Name: "all", NodeSelector: refitv1alpha1.Labels{"kubernetes.io/os": "linux"}, Drain: refitv1alpha1.Drain{OnBlocked: refitv1alpha1.OnBlockedSkip},
				}}
			},
		},
		{check: "BudgetNeverAllows", name: "no disruption allowed, onBlocked Fail", change: cart(0), spec: whenBlocked(refitv1alpha1.OnBlockedFail), want: Block},
		{check: "BudgetNeverAllows", name: "no disruption allowed, workers out of scope", change: cart(0), spec: scope(refitv1alpha1.ScopeControlPlane)},
		{
			check: "BudgetNeverAllows", name: "no disruption allowed, single node", single: true,
			change: all(pods("Deployment", "cart", map[string]int32{"cp-1": 1}), clustertest.Budget("shop", "cart", 0, "cart")),
		},
		{check: "BudgetNeverAllows", name: "DaemonSet", change: all(pods("DaemonSet", "cart", onBoth), clustertest.Budget("shop", "cart", 0, "cart"))},

		{check: "BudgetFailed", name: "computed", change: cart(1)},
		{check: "BudgetFailed", name: "cannot be computed", change: cart(1, func(b *cluster.Budget) { b.Failure, b.Allowed = "found no controller for pod cart-1", 0 }), want: Block},

		{check: "BudgetsOverlap", name: "one PDB", change: cart(1)},
		{check: "BudgetsOverlap", name: "two PDBs", change: overlap, want: Block},
		{check: "BudgetsOverlap", name: "two PDBs that cover different pods of the owner", change: split("StatefulSet", func(*cluster.Workload) {})},
		{
			check: "BudgetsOverlap", name: "two PDBs, the pods are terminating",
			change: all(overlap, onEveryPodSet(func(set *cluster.PodSet) { set.Free = set.Count })),
		},
		{check: "BudgetsOverlap", name: "two PDBs, onBlocked Skip", change: overlap, spec: whenBlocked(refitv1alpha1.OnBlockedSkip), want: Warn},

		{check: "BudgetWaitsForNode", name: "pods that can move", change: bound(func(*cluster.Workload) {}, 1)},
		{check: "BudgetWaitsForNode", name: "two pods bound to a node, one disruption allowed", change: bound(func(w *cluster.Workload) { w.NodeBound = true }, 1), want: Block},
		{check: "BudgetWaitsForNode", name: "two pods bound to a node, two disruptions allowed", change: bound(func(w *cluster.Workload) { w.NodeBound = true }, 2)},
		{check: "BudgetWaitsForNode", name: "two pods with a local volume, one disruption allowed", change: bound(func(w *cluster.Workload) { w.LocalVolume = true }, 1), want: Warn},

		{check: "BudgetExhausted", name: "healthy", change: cart(1)},
		{check: "BudgetExhausted", name: "too few healthy pods", change: cart(1, func(b *cluster.Budget) { b.Healthy, b.Allowed = 1, 0 }), want: Warn},
		{check: "BudgetExhausted", name: "too few healthy pods, AlwaysAllow for the unhealthy ones", change: all(
			cart(1, func(b *cluster.Budget) { b.Healthy, b.Allowed, b.AlwaysAllowUnhealthy = 1, 0, true }),
			clustertest.OnEveryNode(func(n *cluster.Node) {
				for i := range n.Pods {
					n.Pods[i].Unready = n.Pods[i].Count
				}
			}))},

		{check: "BudgetUnobserved", name: "observed", change: cart(1)},
		{check: "BudgetUnobserved", name: "not observed", change: cart(1, func(b *cluster.Budget) { b.Observed = false }), want: Warn, unknown: true},

		{check: "BudgetMatchesNothing", name: "matches pods", change: cart(1)},
		{check: "BudgetMatchesNothing", name: "matches no pods", change: clustertest.Budget("shop", "old", 1), want: Info},

		{check: "NodesShareBudget", name: "one node at a time", change: cart(1)},
		{check: "NodesShareBudget", name: "two nodes at a time, one disruption allowed", change: cart(1), spec: twoAtOnce, want: Info},
		{check: "NodesShareBudget", name: "two nodes at a time, two disruptions allowed", change: cart(2), spec: twoAtOnce},

		{check: "DrainExceedsTimeout", name: "nine rounds of one minute", change: slow(30)},
		{check: "DrainExceedsTimeout", name: "nine rounds of two and a half minutes", change: slow(120), want: Warn},
		{
			check: "DrainExceedsTimeout", name: "one pod with a grace period of one hour", want: Warn,
			change: pods("StatefulSet", "db", map[string]int32{"worker-1": 1}, func(w *cluster.Workload) { w.GraceSeconds = 3600 }),
		},
	}
}

func workloadSituations() []situation {
	one := map[string]int32{"worker-1": 1}
	large := func(memory int64) change {
		return pods("Deployment", "cache", map[string]int32{"worker-1": 2}, func(w *cluster.Workload) { w.Request.Memory = memory })
	}
	return []situation{
		{check: "NoCapacity", name: "enough capacity", change: large(4 << 30)},
		{check: "NoCapacity", name: "one of two pods does not fit", change: large(10 << 30), want: Warn},
		{check: "NoCapacity", name: "both workers at once", change: large(4 << 30), spec: twoAtOnce, want: Warn},
		{check: "NoCapacity", name: "unknown allocatable resources", change: all(large(10<<30), clustertest.OnEveryNode(func(n *cluster.Node) { n.Allocatable = cluster.Resources{} }))},

		{check: "UnmanagedPod", name: "Deployment", change: pods("Deployment", "cart", one)},
		{check: "UnmanagedPod", name: "no controller", change: pods("Pod", "debug", one), want: Block},
		{check: "UnmanagedPod", name: "no controller, patch upgrade without drain", change: pods("Pod", "debug", one), from: "v1.36.1"},
		{check: "UnmanagedPod", name: "static pod", change: pods("Node", "static", one)},

		{check: "LocalDataLost", name: "no emptyDir", change: pods("Deployment", "cart", one)},
		{check: "LocalDataLost", name: "Deployment", change: pods("Deployment", "cart", one, func(w *cluster.Workload) { w.LocalData = true }), want: Info},
		{check: "LocalDataLost", name: "StatefulSet", change: pods("StatefulSet", "db", one, func(w *cluster.Workload) { w.LocalData = true }), want: Block},
		{check: "LocalDataLost", name: "a custom owner", change: pods("Kafka", "log", one, func(w *cluster.Workload) { w.LocalData = true }), want: Block},

		{check: "PodNodeBound", name: "not bound", change: pods("Deployment", "cart", one)},
		{check: "PodNodeBound", name: "one pod, by nodeSelector", change: pods("Deployment", "cart", one, func(w *cluster.Workload) { w.NodeBound = true }), want: Warn},
		{
			check: "PodNodeBound", name: "two pods covered by different PDBs", want: Info,
			change: split("StatefulSet", func(w *cluster.Workload) { w.LocalVolume = true }),
		},
		{check: "PodNodeBound", name: "two pods, by local volumes", change: pods("StatefulSet", "db", onBoth, func(w *cluster.Workload) { w.LocalVolume = true }), want: Info},

		{check: "PodStuckTerminating", name: "none", change: pods("Deployment", "cart", one)},
		{check: "PodStuckTerminating", name: "one within its grace period", change: pods("Deployment", "cart", one, func(w *cluster.Workload) { w.Terminating = 1 })},
		{check: "PodStuckTerminating", name: "one", change: pods("Deployment", "cart", one, func(w *cluster.Workload) { w.Terminating, w.Stuck = 1, 1 }), want: Warn},
		{
			check: "PodStuckTerminating", name: "two covered by different PDBs", want: Warn,
			change: split("StatefulSet", func(w *cluster.Workload) { w.Terminating, w.Stuck = 1, 1 }),
		},
		{check: "PodStuckTerminating", name: "one with a finalizer", want: Warn, change: pods("Deployment", "cart", one, func(w *cluster.Workload) {
			w.Terminating, w.Stuck, w.Finalizers = 1, 1, []string{"shop.example/cleanup"}
		})},

		{check: "PodHasFinalizer", name: "none", change: pods("Job", "report", one)},
		{check: "PodHasFinalizer", name: "custom finalizer", want: Warn, change: pods("Deployment", "cart", one, func(w *cluster.Workload) { w.Finalizers = []string{"shop.example/cleanup"} })},

		{check: "PodNotSafeToEvict", name: "safe", change: pods("Deployment", "cart", one, func(w *cluster.Workload) { w.SafeToEvict = cluster.Yes })},
		{check: "PodNotSafeToEvict", name: "not safe", change: pods("Deployment", "cart", one, func(w *cluster.Workload) { w.SafeToEvict = cluster.No }), want: Warn},

		{check: "SingleReplica", name: "two replicas", change: pods("Deployment", "cart", onBoth)},
		{check: "SingleReplica", name: "two replicas covered by different PDBs", change: split("StatefulSet", func(*cluster.Workload) {})},
		{check: "SingleReplica", name: "one replica", change: pods("Deployment", "cart", one), want: Info},
		{check: "SingleReplica", name: "Job", change: pods("Job", "report", one)},

		{check: "SystemPodsNotReady", name: "all ready"},
		{check: "SystemPodsNotReady", name: "one not ready", change: func(s *snapshot) { s.Workloads[1].Ready = 1 }, want: Warn},
		{
			check: "SystemPodsNotReady", name: "one not ready, covered by its own PDB", want: Warn,
			change: split("Deployment", func(w *cluster.Workload) {
				w.Namespace = "kube-system"
				if w.Budgets[0] == "replicas" {
					w.Ready = -1
				}
			}),
		},
		{check: "SystemPodsNotReady", name: "other namespace", change: pods("Deployment", "cart", one, func(w *cluster.Workload) { w.Ready = -1 })},
	}
}

func extensionSituations() []situation {
	oneReplica := func(resources ...string) change {
		return webhook(func(w *cluster.Webhook) {
			w.Backend.Ready, w.Backend.Nodes, w.Resources, w.ReachesItself = 1, []string{"worker-1"}, resources, true
		})
	}
	noReadyPods := func(resource string) change {
		return webhook(func(w *cluster.Webhook) { w.Backend.Ready, w.Backend.Nodes, w.Resources = 0, nil, []string{resource} })
	}
	api := func(name string, available cluster.Answer) change {
		return func(s *snapshot) {
			s.APIs = []cluster.APIGroup{{Name: name, Available: available, Message: "endpoints for service shop/api have no addresses"}}
		}
	}
	return []situation{
		{check: "WebhookUnreachable", name: "ready", change: webhook(func(*cluster.Webhook) {})},
		{check: "WebhookUnreachable", name: "no ready pods, matches pods", change: noReadyPods("/pods"), want: Block},
		{check: "WebhookUnreachable", name: "no ready pods, matches everything", change: noReadyPods("*/*"), want: Block},
		{check: "WebhookUnreachable", name: "no ready pods, matches its own kind", change: noReadyPods("shop.example/carts"), want: Warn},
		{check: "WebhookUnreachable", name: "no ready pods, fails open", change: all(noReadyPods("/pods"), func(s *snapshot) { s.Webhooks[0].FailClosed = false })},
		{check: "WebhookUnreachable", name: "Service missing", change: webhook(func(w *cluster.Webhook) { w.Backend.Found = cluster.No }), want: Block},
		{check: "WebhookUnreachable", name: "Service missing, another entry in use", want: Block, change: all(
			webhook(func(w *cluster.Webhook) { w.Backend.Found = cluster.No }),
			webhook(func(w *cluster.Webhook) { w.Name = "mutate.policy.example" }),
		)},
		{check: "WebhookUnreachable", name: "no ready pods, matches a subresource", change: noReadyPods("/pods/exec"), want: Warn},
		{check: "WebhookUnreachable", name: "no ready pods, matches all subresources", change: noReadyPods("/pods/*"), want: Block},
		{check: "WebhookUnreachable", name: "no ready pods, matches nodes with namespaced scope", want: Warn, change: all(
			noReadyPods("/nodes"), func(s *snapshot) { s.Webhooks[0].OnlyNamespaced = []string{"/nodes"} },
		)},
		{check: "WebhookUnreachable", name: "unknown", change: webhook(func(w *cluster.Webhook) { w.Backend.Found = cluster.Unknown }), want: Block, unknown: true},
		{check: "WebhookUnreachable", name: "outside the cluster", change: webhook(func(w *cluster.Webhook) { w.Backend, w.URL = nil, "https://policy.example/validate" }), want: Warn, unknown: true},

		{check: "WebhookHasOneReplica", name: "two on two nodes", change: webhook(func(*cluster.Webhook) {})},
		{check: "WebhookHasOneReplica", name: "one, matches pods", change: oneReplica("/pods"), want: Block},
		{
			check: "WebhookHasOneReplica", name: "two on one node, matches pods", want: Warn,
			change: webhook(func(w *cluster.Webhook) { w.Backend.Nodes = []string{"worker-1"} }),
		},
		{
			check: "WebhookHasOneReplica", name: "one, matches pods except in its own namespace", want: Warn,
			change: all(oneReplica("/pods"), func(s *snapshot) { s.Webhooks[0].ReachesItself = false }),
		},
		{
			check: "WebhookHasOneReplica", name: "one, matches pods with a label", want: Warn,
			change: all(oneReplica("/pods"), func(s *snapshot) { s.Webhooks[0].HasObjectSelector = true }),
		},
		{
			check: "WebhookHasOneReplica", name: "one, matches pods with matchConditions", want: Warn,
			change: all(oneReplica("/pods"), func(s *snapshot) { s.Webhooks[0].HasMatchConditions = true }),
		},
		{check: "WebhookHasOneReplica", name: "one, matches pods/exec", change: oneReplica("/pods/exec"), want: Info},
		{check: "WebhookHasOneReplica", name: "one, matches only deletions", change: oneReplica()},
		{check: "WebhookHasOneReplica", name: "one, matches ConfigMaps", change: oneReplica("/configmaps"), want: Warn},
		{check: "WebhookHasOneReplica", name: "one, matches its own kind", change: oneReplica("cert-manager.io/certificates"), want: Info},
		{check: "WebhookHasOneReplica", name: "one, fails open", change: all(oneReplica("/pods"), func(s *snapshot) { s.Webhooks[0].FailClosed = false })},
		{check: "WebhookHasOneReplica", name: "one on a node that is not drained", change: oneReplica("/pods"), from: "v1.36.1"},

		{check: "WebhookCAExpired", name: "valid", change: webhook(func(*cluster.Webhook) {})},
		{check: "WebhookCAExpired", name: "no bundle", change: webhook(func(w *cluster.Webhook) { w.CANotAfter = time.Time{} })},
		{check: "WebhookCAExpired", name: "expired, fails closed", change: webhook(func(w *cluster.Webhook) { w.CANotAfter = clustertest.Now.Add(-time.Hour) }), want: Block},
		{
			check: "WebhookCAExpired", name: "expired, fails open", want: Warn,
			change: webhook(func(w *cluster.Webhook) { w.CANotAfter, w.FailClosed = clustertest.Now.Add(-72*time.Hour), false }),
		},
		{check: "WebhookCAExpired", name: "expires soon", change: webhook(func(w *cluster.Webhook) { w.CANotAfter = clustertest.Now.Add(72 * time.Hour) }), want: Warn},
		{check: "WebhookCAExpired", name: "invalid", change: webhook(func(w *cluster.Webhook) { w.CAError = "no PEM" }), want: Warn, unknown: true},

		{check: "WebhookReachesSystem", name: "excludes system namespaces", change: webhook(func(*cluster.Webhook) {})},
		{check: "WebhookReachesSystem", name: "matches system namespaces", change: webhook(func(w *cluster.Webhook) { w.Mutating, w.Reaches = true, []string{"kube-system"} }), want: Warn},
		{
			check: "WebhookReachesSystem", name: "matches system namespaces, with matchConditions", want: Info,
			change: webhook(func(w *cluster.Webhook) { w.Reaches, w.HasMatchConditions = []string{"kube-system"}, true }),
		},
		{
			check: "WebhookReachesSystem", name: "excludes system namespaces, matches nodes", want: Warn,
			change: webhook(func(w *cluster.Webhook) { w.Resources = []string{"/nodes", "certificates.k8s.io/*"} }),
		},
		{
			check: "WebhookReachesSystem", name: "excludes system namespaces, matches all namespaced resources",
			change: webhook(func(w *cluster.Webhook) { w.Resources, w.OnlyNamespaced = []string{"*/*"}, []string{"*/*"} }),
		},
		{
			check: "WebhookReachesSystem", name: "matches system namespaces and all cluster-scoped resources", want: Warn,
			change: webhook(func(w *cluster.Webhook) {
				w.Resources, w.OnlyCluster, w.Reaches = []string{"*/*"}, []string{"*/*"}, []string{"kube-system"}
			}),
		},
		{check: "WebhookReachesSystem", name: "matches its own kind", change: webhook(func(w *cluster.Webhook) {
			w.Reaches, w.Resources = []string{"kube-system"}, []string{"shop.example/carts"}
		})},

		{check: "WebhookMatchesExactly", name: "equivalent", change: webhook(func(*cluster.Webhook) {})},
		{check: "WebhookMatchesExactly", name: "exact", change: webhook(func(w *cluster.Webhook) { w.Equivalent = false }), want: Info},

		{check: "APIServiceUnavailable", name: "available", change: api("v1.shop.example", cluster.Yes)},
		{check: "APIServiceUnavailable", name: "unavailable", change: api("v1.shop.example", cluster.No), want: Block},
		{check: "APIServiceUnavailable", name: "metrics", change: api("v1beta1.metrics.k8s.io", cluster.No), want: Warn},
		{check: "APIServiceUnavailable", name: "unknown", change: api("v1.shop.example", cluster.Unknown), want: Warn, unknown: true},

		{check: "CRDStoredVersionDropped", name: "stored in two served versions", change: crd(func(*cluster.CRD) {})},
		{check: "CRDStoredVersionDropped", name: "stored in a removed version", change: crd(func(c *cluster.CRD) { c.Versions, c.Served = []string{"v1"}, []string{"v1"} }), want: Block},
		{check: "CRDStoredVersionDropped", name: "stored in a version that is no longer served", change: crd(func(c *cluster.CRD) { c.Served = []string{"v1"} }), want: Info},

		{check: "CRDConversionUnreachable", name: "ready", change: crd(func(c *cluster.CRD) {
			c.Conversion = &cluster.Backend{Namespace: "shop", Service: "convert", Found: cluster.Yes, Ready: 1}
		})},
		{check: "CRDConversionUnreachable", name: "not ready", want: Warn, change: crd(func(c *cluster.CRD) {
			c.Conversion = &cluster.Backend{Namespace: "shop", Service: "convert", Found: cluster.Yes}
		})},
		{check: "CRDConversionUnreachable", name: "unknown", want: Warn, unknown: true, change: crd(func(c *cluster.CRD) {
			c.Conversion = &cluster.Backend{Namespace: "shop", Service: "convert"}
		})},
		{check: "CRDConversionUnreachable", name: "not ready, only one version", change: crd(func(c *cluster.CRD) {
			c.Versions, c.Conversion = []string{"v1"}, &cluster.Backend{Namespace: "shop", Service: "convert", Found: cluster.Yes}
		})},

		{check: "CRDNotEstablished", name: "established", change: crd(func(*cluster.CRD) {})},
		{check: "CRDNotEstablished", name: "not established", change: crd(func(c *cluster.CRD) { c.Established, c.Message = cluster.No, "the name is taken" }), want: Warn},
		{check: "CRDNotEstablished", name: "unknown", change: crd(func(c *cluster.CRD) { c.Established = cluster.Unknown }), want: Warn, unknown: true},
	}
}

func removalSituations() []situation {
	requested := func(removed string) change {
		return func(s *snapshot) {
			for i := range 2 {
				s.APIServers[i].Deprecated = []cluster.DeprecatedRequest{{
					Group: "networking.k8s.io", Version: "v1beta1", Resource: "servicecidrs", RemovedRelease: removed,
				}}
			}
		}
	}
	uncounted := func(via string, why cluster.GapKind) change {
		return func(s *snapshot) {
			for i := range s.APIServers {
				server := &s.APIServers[i]
				server.Via, server.DeprecatedKnown = via, cluster.Unknown
				s.Gaps = append(s.Gaps, cluster.Gap{
					Part: cluster.PartDeprecated, Object: "Node " + server.Node, Kind: why, Message: "the reason for " + server.Node,
				})
			}
		}
	}
	wrote := func(version, kind string) change {
		return helm("deployed", cluster.Object{APIVersion: version, Kind: kind, Name: "extra"}, cluster.Object{APIVersion: version, Kind: kind, Name: "more"})
	}
	volume := func(kind string) change {
		return func(s *snapshot) { s.Volumes = []cluster.Volume{{Name: "pv-1", Kind: kind}} }
	}
	git := pods("Deployment", "docs", onBoth, func(w *cluster.Workload) { w.VolumeKinds = []string{"gitRepo"} })
	return []situation{
		{check: "RemovedAPIInUse", name: "removed by a later version", change: requested("1.37")},
		{check: "RemovedAPIInUse", name: "already removed", change: requested("1.35"), to: "v1.37.1"},
		{check: "RemovedAPIInUse", name: "removed by the second hop", change: requested("1.37"), to: "v1.37.1", want: Block},
		{check: "RemovedAPIInUse", name: "patch upgrade", change: requested("1.37"), to: "v1.35.9"},

		{check: "DeprecatedRequestsUnknown", name: "all API servers reported"},
		{check: "DeprecatedRequestsUnknown", name: "one did not report", change: func(s *snapshot) { s.APIServers[2].DeprecatedKnown = cluster.Unknown }, want: Warn, unknown: true},
		{check: "DeprecatedRequestsUnknown", name: "no permission to read metrics", change: uncounted(cluster.ViaAddress, cluster.GapForbidden), want: Warn, unknown: true},
		{check: "DeprecatedRequestsUnknown", name: "requested through the pod proxy, without credentials", change: uncounted(cluster.ViaPodProxy, cluster.GapForbidden), want: Warn, unknown: true},
		{check: "DeprecatedRequestsUnknown", name: "all unreachable", change: uncounted("", cluster.GapUnreachable), want: Warn, unknown: true},
		{check: "DeprecatedRequestsUnknown", name: "patch upgrade", change: uncounted(cluster.ViaAddress, cluster.GapForbidden), to: "v1.35.9"},

		{check: "RemovedAPIInHelmRelease", name: "supported API", change: wrote("networking.k8s.io/v1", "Ingress"), to: "v1.37.1"},
		{check: "RemovedAPIInHelmRelease", name: "API removed by the second hop", change: wrote("networking.k8s.io/v1beta1", "ServiceCIDR"), to: "v1.37.1", want: Block},
		{check: "RemovedAPIInHelmRelease", name: "API already removed", change: wrote("extensions/v1beta1", "Ingress"), to: "v1.37.1", want: Warn},
		{check: "RemovedAPIInHelmRelease", name: "custom resource", change: wrote("shop.example/v1", "Cart"), to: "v1.37.1"},
		{check: "RemovedAPIInHelmRelease", name: "current version without facts", change: wrote("admissionregistration.k8s.io/v1beta1", "ValidatingAdmissionPolicy"), from: "v1.33.9", to: "v1.34.4", want: Block},

		{check: "HelmReleasePending", name: "deployed", change: helm("deployed")},
		{check: "HelmReleasePending", name: "pending", change: helm("pending-upgrade"), want: Warn},

		{check: "GitRepoVolume", name: "upgrade to 1.36", change: git, want: Block},
		{check: "GitRepoVolume", name: "upgrade to 1.35", change: git, from: "v1.34.4", to: "v1.35.4"},
		{check: "GitRepoVolume", name: "already at 1.36", change: git, from: "v1.36.3", to: "v1.37.1"},

		{check: "InTreeVolume", name: "migrated to a CSI driver", change: volume("awsElasticBlockStore")},
		{check: "InTreeVolume", name: "removed volume type", change: volume("rbd"), want: Warn},
		{check: "InTreeVolume", name: "Portworx", change: volume("portworxVolume"), want: Warn},
		{check: "InTreeVolume", name: "Portworx, upgrade to 1.35", change: volume("portworxVolume"), from: "v1.34.4", to: "v1.35.4"},

		{check: "ExternalIPsUsed", name: "used", want: Warn, change: func(s *snapshot) {
			s.Services = []cluster.Service{{Namespace: "shop", Name: "web", ExternalIPs: []string{"203.0.113.7"}}}
		}},
		{check: "ExternalIPsUsed", name: "not used", change: func(s *snapshot) { s.Services = []cluster.Service{{Namespace: "shop", Name: "web"}} }},
	}
}

func otherSituations() []situation {
	const autoscaler = "Deployment kube-system/cluster-autoscaler"
	return []situation{
		{check: "OtherUpgrader", name: "changing a node", change: actor("Kured", "Node worker-1", cluster.Yes), want: Block},
		{check: "OtherUpgrader", name: "running", change: actor("SystemUpgradeController", "Deployment system-upgrade/system-upgrade-controller", cluster.Yes), want: Warn},
		{check: "OtherUpgrader", name: "running on every node", change: actor("Kured", "DaemonSet kube-system/kured", cluster.Yes), want: Warn},
		{check: "OtherUpgrader", name: "running as a StatefulSet", change: actor("ClusterVersionOperator", "StatefulSet ops/cluster-version-operator", cluster.Yes), want: Warn},
		{check: "OtherUpgrader", name: "not running", change: actor("Kured", "DaemonSet kube-system/kured", cluster.No), want: Info},
		{check: "OtherUpgrader", name: "unknown", change: actor("SystemUpgradeController", "CustomResourceDefinition plans.upgrade.cattle.io", cluster.Unknown), want: Info, unknown: true},
		{check: "OtherUpgrader", name: "autoscaler", change: actor("ClusterAutoscaler", autoscaler, cluster.Yes)},

		{check: "ClusterAPIManaged", name: "none"},
		{check: "ClusterAPIManaged", name: "created the nodes", change: actor("ClusterAPI", "Node worker-1", cluster.Yes), want: Warn},

		{check: "ClusterAutoscalerActive", name: "descheduler", change: actor("Descheduler", "Lease kube-system/descheduler", cluster.Yes), want: Warn},
		{check: "ClusterAutoscalerActive", name: "running", change: actor("ClusterAutoscaler", autoscaler, cluster.Yes), want: Warn},
		{check: "ClusterAutoscalerActive", name: "scaled to zero", change: actor("ClusterAutoscaler", autoscaler, cluster.No)},
		{check: "ClusterAutoscalerActive", name: "unknown", change: actor("Karpenter", "CustomResourceDefinition nodepools.karpenter.sh", cluster.Unknown), want: Info, unknown: true},

		{check: "GitOpsActive", name: "Flux", change: actor("Flux", "Deployment flux-system/kustomize-controller", cluster.Yes), want: Info},
		{check: "GitOpsActive", name: "none"},

		{check: "OlderOperation", name: "none"},
		{check: "OlderOperation", name: "one", change: func(s *snapshot) { s.Others = []string{"to-1-35"} }, want: Info},

		{check: "ReleaseMissing", name: "present"},
		{check: "ReleaseMissing", name: "missing", change: func(s *snapshot) { s.Releases = nil }, want: Block},
		{
			check: "ReleaseMissing", name: "missing for a worker that is too old for the target", want: Block,
			change: all(onWorker(func(n *cluster.Node) { n.Kubelet = "v1.32.1" }), func(s *snapshot) {
				s.Releases = slices.DeleteFunc(s.Releases, func(r cluster.Release) bool { return r.Payload.Kubernetes == "v1.35.4" })
			}),
		},
		{check: "ReleaseMissing", name: "other patch version", to: "v1.36.9", want: Block, change: func(s *snapshot) { s.Releases = s.Releases[1:] }},
		{
			check: "ReleaseMissing", name: "missing, Refit not installed", want: Block, deferred: true,
			change: func(s *snapshot) { s.Releases, s.Installed = nil, false },
		},
		{
			check: "ReleaseMissing", name: "missing for the first of two hops", to: "v1.37.1", want: Block,
			change: func(s *snapshot) {
				s.Releases = slices.DeleteFunc(s.Releases, func(r cluster.Release) bool { return r.Payload.Kubernetes < "v1.37" })
			},
		},
		{
			check: "ReleaseMissing", name: "missing by name", want: Block,
			spec: func(spec *refitv1alpha1.ClusterUpgradeSpec) { spec.Target = refitv1alpha1.Target{Release: "gone"} },
		},

		{check: "ReleaseUnreadable", name: "usable"},
		{check: "ReleaseUnreadable", name: "no valid signature", change: func(s *snapshot) { s.Releases[0].Error = "no signature is valid" }, want: Warn},

		{check: "PartUnreadable", name: "all parts read"},
		{check: "PartUnreadable", name: "nodes forbidden", change: all(func(s *snapshot) { s.Nodes = nil }, unread(cluster.PartNodes, cluster.GapForbidden)), want: Block, unknown: true},
		{check: "PartUnreadable", name: "Helm releases forbidden", change: unread(cluster.PartHelm, cluster.GapForbidden), want: Warn, unknown: true},
		{check: "PartUnreadable", name: "API servers unreachable", change: unread(cluster.PartAPIServers, cluster.GapUnreachable), want: Warn, unknown: true},
		{check: "PartUnreadable", name: "API servers failed", change: unread(cluster.PartAPIServers, cluster.GapFailed), want: Block, unknown: true},
		{check: "PartUnreadable", name: "reports forbidden", bare: true, change: unread(cluster.PartReports, cluster.GapForbidden), want: Block, unknown: true},
		{check: "PartUnreadable", name: "reports absent", bare: true, change: unread(cluster.PartReports, cluster.GapAbsent)},
		{check: "PartUnreadable", name: "one damaged Helm release", want: Warn, unknown: true, change: func(s *snapshot) {
			s.Gaps = append(s.Gaps, cluster.Gap{Part: cluster.PartHelm, Object: "shop/cart", Kind: cluster.GapFailed, Message: "gzip: invalid header"})
		}},

		{check: "PartUnreadable", name: "kubelet configuration forbidden", change: unreadObject(kubeletConfig, cluster.GapForbidden), want: Block, unknown: true},
		{check: "PartUnreadable", name: "kube-proxy configuration forbidden", change: unreadObject(proxyConfig, cluster.GapForbidden), want: Block, unknown: true},
		{check: "PartUnreadable", name: "kube-proxy configuration damaged", change: unreadObject(proxyConfig, cluster.GapFailed), want: Block, unknown: true},
		{check: "PartUnreadable", name: "kube-proxy configuration unreachable", change: unreadObject(proxyConfig, cluster.GapUnreachable), want: Warn, unknown: true},
		{check: "PartUnreadable", name: "no kube-proxy", change: unreadObject(proxyConfig, cluster.GapAbsent)},
		{check: "PartUnreadable", name: "CoreDNS configuration forbidden", change: unreadObject(dnsConfig, cluster.GapForbidden), want: Warn, unknown: true},
		{check: "PartUnreadable", name: "other kubeadm object forbidden", change: unreadObject("ConfigMap kube-system/other", cluster.GapForbidden), want: Block, unknown: true},
		{check: "PartUnreadable", name: "webhook backends forbidden", change: unread(cluster.PartBackends, cluster.GapForbidden), want: Block, unknown: true},
		{
			check: "PartUnreadable", name: "nodes unreachable and pods forbidden", want: Block, unknown: true,
			change: all(unread(cluster.PartNodes, cluster.GapUnreachable), unread(cluster.PartPods, cluster.GapForbidden)),
		},

		{check: "WaiverRefused", name: "part that a binding check needs", change: unread(cluster.PartPods, cluster.GapForbidden), spec: waiver("PartUnreadable", "pods"), want: Warn},
		{check: "WaiverRefused", name: "part that no binding check needs", change: unread(cluster.PartHelm, cluster.GapForbidden), spec: waiver("PartUnreadable", "Helm releases")},
		{check: "WaiverRefused", name: "unread parts without an object", change: unread(cluster.PartHelm, cluster.GapForbidden), spec: waiver("PartUnreadable", ""), want: Warn},
		{check: "WaiverRefused", name: "check that can be waived", change: cart(0), spec: waiver("BudgetNeverAllows", "")},
		{check: "WaiverRefused", name: "binding check", change: func(s *snapshot) { s.Releases = nil }, spec: waiver("ReleaseMissing", ""), want: Warn},

		{check: "WaiverUnused", name: "used", change: cart(0), spec: waiver("BudgetNeverAllows", "PodDisruptionBudget shop/cart")},
		{check: "WaiverUnused", name: "no matching finding", spec: waiver("BudgetNeverAllows", "PodDisruptionBudget shop/cart"), want: Warn},
		{check: "WaiverUnused", name: "finding for another object", change: cart(0), spec: waiver("BudgetNeverAllows", "PodDisruptionBudget shop/other"), want: Warn},
		{check: "WaiverUnused", name: "nonexistent check", spec: waiver("BudgetNeverAlows", ""), want: Warn},
	}
}

func localClock(ahead time.Duration) clustertest.Change {
	return func(s *cluster.Snapshot) { s.ClockOffset = ahead }
}

// serverClocks sets the offset of this clock and how far those of the first API servers are ahead
// of it.
func serverClocks(local time.Duration, servers ...time.Duration) clustertest.Change {
	return func(s *cluster.Snapshot) {
		s.ClockOffset = local
		for i := range servers {
			s.APIServers[i].ClockAhead = &servers[i]
		}
	}
}

func workersOnly(s *refitv1alpha1.ClusterUpgradeSpec) { s.Scope = refitv1alpha1.ScopeWorkers }

func withoutStore(s *snapshot) { s.BackupStores = nil }

func inWindow(s *refitv1alpha1.ClusterUpgradeSpec) { s.Window = "weekend" }

// window is a window in a time zone, with a blackout until a time.
func window(zone, blackout string) func(*snapshot) {
	return func(s *snapshot) {
		spec := refitv1alpha1.MaintenanceWindowSpec{TimeZone: zone, Open: []refitv1alpha1.Opening{{Start: "02:00", Duration: metav1.Duration{Duration: time.Hour}}}}
		if blackout != "" {
			spec.Blackouts = []refitv1alpha1.Blackout{{Name: "all", From: "2020-01-01T00:00", To: blackout}}
		}
		s.Windows = []cluster.Window{{Name: "weekend", Spec: spec}}
	}
}

// upgradedControlPlane is a cluster of which only the workers are left.
func upgradedControlPlane(s *snapshot) {
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !n.ControlPlane {
			continue
		}
		n.Kubelet = "v1.36.3"
		for component, pod := range n.Static {
			if component != "etcd" {
				pod.Version = "v1.36.3"
				n.Static[component] = pod
			}
		}
	}
}

func waivedBackup(s *refitv1alpha1.ClusterUpgradeSpec) {
	s.Waivers = append(s.Waivers, refitv1alpha1.Waiver{Check: "BackupProven", Reason: "the storage has snapshots"})
}

func withStore(directory string) change {
	return func(s *snapshot) { s.BackupStores = []cluster.BackupStore{{Name: "local", Directory: directory}} }
}

func withIdentity(proven cluster.Answer) change {
	return func(s *snapshot) { s.BackupStores = []cluster.BackupStore{{Name: "local", IdentityProven: proven}} }
}

func oldAgents(s *snapshot) {
	for i := range s.Nodes {
		s.Nodes[i].Report.OrderFormat = 1
	}
}

func rehearsed(findings ...refitv1alpha1.RehearsalFinding) change {
	return func(s *snapshot) {
		b := cluster.Backup{Name: "backup", Hop: "v1.36.3", Number: 1}
		b.Status.Rehearsed = []refitv1alpha1.RehearsedHop{{Kubernetes: "v1.36.3", Findings: findings}}
		s.Backups = []cluster.Backup{{Name: "old", Hop: "v1.36.3"}, b}
	}
}

var openQuestion = refitv1alpha1.RehearsalFinding{
	Reason: "KMSUnavailable", Object: "unix:///run/kms.sock", Message: "the socket is not on this host", Remedy: "Start the plugin", Unknown: true,
}

func deletingBackups(s *snapshot) {
	for i := range s.Backups {
		s.Backups[i].Deleting = true
	}
}

func restored(s *refitv1alpha1.ClusterUpgradeSpec) {
	s.Backup = &refitv1alpha1.UpgradeBackup{Drill: refitv1alpha1.DrillRestore}
}
