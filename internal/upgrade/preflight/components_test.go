package preflight

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/componentplan"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// withLiqo is a cluster with Liqo v1.1.2, and ClusterReleases that have v1.2.0. Its offer is for
// the target.
func withLiqo(s *snapshot) {
	for i := range s.Releases {
		s.Releases[i].Components = []refitv1alpha1.ReleaseComponent{{Name: "liqo", Version: "v1.2.0"}}
	}
	target := &s.Releases[slices.IndexFunc(s.Releases, func(r cluster.Release) bool { return r.Payload.Kubernetes == "v1.36.3" })]
	s.Components = []cluster.Component{{Name: "liqo", Manage: refitv1alpha1.ManageRefit, Status: refitv1alpha1.ComponentStatus{
		Owner: refitv1alpha1.OwnerHelm, Installed: &refitv1alpha1.InstalledComponent{Version: "v1.1.2", Namespace: "liqo", Name: "liqo", Revision: 4},
		Offers: []refitv1alpha1.ComponentOffer{{
			Release: refitv1alpha1.ReleaseRef{Name: target.Name, Digest: target.Digest}, Version: "v1.2.0", Action: refitv1alpha1.ActionUpgrade,
			Kubernetes: "v1.36.3", Digest: "sha256:" + strings.Repeat("a", 64),
		}},
	}}}
	s.Workloads = append(s.Workloads, cluster.Workload{Namespace: "refit-components", Kind: "Deployment", Name: "refit-components", Pods: 2, Ready: 2})
}

func onLiqo(f func(*cluster.Component)) change {
	return all(withLiqo, func(s *snapshot) { f(&s.Components[0]) })
}

func withProblem(reason, object, message string, blocks bool) change {
	return onLiqo(func(c *cluster.Component) {
		c.Status.Offers[0].Problems = []refitv1alpha1.ComponentProblem{{Reason: reason, Object: object, Message: message, Remedy: "Fix it.", Blocks: blocks}}
	})
}

// offeredBefore adds an offer for the target, whose problems the first one has on an older
// Kubernetes.
func offeredBefore(s *snapshot) {
	c := &s.Components[0].Status
	after := c.Offers[0]
	after.Problems = nil
	c.Offers[0].Kubernetes = "v1.35.4"
	c.Offers = append(c.Offers, after)
}

func fits(kubernetes string) change {
	return all(withLiqo, func(s *snapshot) {
		for i := range s.Releases {
			s.Releases[i].Components[0].Fits = []refitv1alpha1.ComponentFit{{Version: "<1.2", Kubernetes: "<1.36"}, {Version: ">=1.2", Kubernetes: kubernetes}}
		}
	})
}

func byRefit(s *snapshot) { s.Components[0].ByRefit = true }

func withoutComponents(s *snapshot) {
	for i := range s.Releases {
		s.Releases[i].Components = nil
	}
}

func observed(s *snapshot) { s.Components[0].Manage = refitv1alpha1.ManageObserve }

func stalled() refitv1alpha1.ComponentStatus {
	return refitv1alpha1.ComponentStatus{Conditions: []metav1.Condition{{
		Type: refitv1alpha1.ConditionStalled, Status: metav1.ConditionTrue, Message: "the release is stored in ConfigMaps",
	}}}
}

func addOnSituations() []situation {
	waived := func(s *refitv1alpha1.ClusterUpgradeSpec) {
		s.Waivers = []refitv1alpha1.Waiver{{Check: policy.CheckComponentsMissing, Reason: "we upgrade them ourselves"}}
	}
	workers := func(s *refitv1alpha1.ClusterUpgradeSpec) { s.Scope = refitv1alpha1.ScopeWorkers }
	unread := all(withLiqo, func(s *snapshot) { s.Components = nil })
	nobody := all(unread, func(s *snapshot) { s.Workloads = s.Workloads[:len(s.Workloads)-1] })
	reports := func(check, object, message string) []situation {
		return []situation{
			{check: check, name: "none", change: withLiqo},
			{check: check, name: "it blocks", change: withProblem(check, object, message, true), want: Block},
			{check: check, name: "components alone", change: withProblem(check, object, message, true), from: "v1.36.3", to: "v1.36.3", want: Block},
			{check: check, name: "it does not block", change: withProblem(check, object, message, false), want: Warn},
			{check: check, name: "before a later hop", change: withProblem(check, object, message, true), from: "v1.34.4", want: Warn},
			{check: check, name: "of an offer that the upgrade does not take", change: all(withProblem(check, object, message, true), offeredBefore)},
			{check: check, name: "of another ClusterRelease", change: withProblem(check, object, message, true), to: "v1.35.4", from: "v1.34.4"},
		}
	}
	unset := withProblem(componentplan.CheckForm, "", "the form of ClusterRelease kubernetes-v1.36.3 requires values that nobody has set: Host name (ingress.host)", false)
	return slices.Concat(onlyImagesSituations(), []situation{
		{check: componentplan.CheckForm, name: "it is filled in", change: withLiqo},
		{check: componentplan.CheckForm, name: "nobody has filled it in", change: unset, want: Warn},
		{check: componentplan.CheckForm, name: "before a later hop", change: unset, from: "v1.34.4", want: Warn},
		{check: policy.CheckComponentsMissing, name: "no ClusterRelease has components"},
		{check: policy.CheckComponentsMissing, name: "refit-components runs", change: withLiqo},
		{check: policy.CheckComponentsMissing, name: "refit-components does not run", change: nobody, want: Block},
		{check: policy.CheckComponentsMissing, name: "refit-components has not created a Component", change: unread, want: Block},
		{check: policy.CheckComponentsMissing, name: "a Component that nothing reports on", change: onLiqo(func(c *cluster.Component) { c.Status = refitv1alpha1.ComponentStatus{} }), want: Block},
		{check: policy.CheckComponentsMissing, name: "refit-components cannot read a Component", change: onLiqo(func(c *cluster.Component) { c.Status = stalled() })},
		{check: policy.CheckComponentsMissing, name: "refit-components was removed", change: all(withLiqo, func(s *snapshot) { s.Workloads = s.Workloads[:len(s.Workloads)-1] }), want: Block},
		{check: policy.CheckComponentsMissing, name: "components alone", change: nobody, from: "v1.36.3", to: "v1.36.3", want: Block},
		{check: policy.CheckComponentsMissing, name: "waived", change: nobody, spec: waived, want: Block},
		{check: policy.CheckComponentsMissing, name: "workers only", change: nobody, spec: workers},
		{check: policy.CheckComponentsMissing, name: "Refit is not installed yet", change: all(nobody, func(s *snapshot) { s.Installed = false }), want: Block, deferred: true},
		{check: componentplan.CheckNoPath, name: "the new version runs on both", change: fits(">=1.35")},
		{check: componentplan.CheckNoPath, name: "no version runs on both", change: fits(">=1.36"), want: Block},
		{check: componentplan.CheckNoPath, name: "another tool has to upgrade it first", change: all(fits(">=1.35"), observed), want: Block},
		{check: componentplan.CheckNoPath, name: "another tool may upgrade it later", change: all(withLiqo, observed)},
		{check: componentplan.CheckNotOffered, name: "the target has it", change: all(withLiqo, byRefit)},
		{check: componentplan.CheckNotOffered, name: "the target has other components", change: all(withLiqo, byRefit, func(s *snapshot) {
			for i := range s.Releases {
				s.Releases[i].Components[0].Name = "other"
			}
		}), want: Warn},
		{check: componentplan.CheckNotOffered, name: "the target has no components", change: all(withLiqo, byRefit, withoutComponents), want: Warn},
		{check: componentplan.CheckNotOffered, name: "somebody else installed it", change: all(withLiqo, withoutComponents)},
		{check: componentplan.CheckNotOffered, name: "another tool manages it", change: all(withLiqo, byRefit, observed, withoutComponents)},
		{check: componentplan.CheckNotOffered, name: "workers only", change: all(withLiqo, byRefit, withoutComponents), spec: workers},
		{check: componentplan.CheckUnknown, name: "it is known", change: withLiqo},
		{check: componentplan.CheckUnknown, name: "there is no offer", change: onLiqo(func(c *cluster.Component) { c.Status.Offers = nil }), want: Block, unknown: true},
		{check: componentplan.CheckUnknown, name: "refit-components cannot compute it", change: onLiqo(func(c *cluster.Component) { c.Status = stalled() }), want: Block, unknown: true},
		{check: componentplan.CheckUnknown, name: "an offer for another Kubernetes", change: onLiqo(func(c *cluster.Component) { c.Status.Offers[0].Kubernetes = "v1.36.1" }), want: Block, unknown: true},
		{check: componentplan.CheckUnknown, name: "an offer for an older spec", change: onLiqo(func(c *cluster.Component) { c.Generation = 2 }), want: Block, unknown: true},
		{
			check: componentplan.CheckUnknown, name: "a problem keeps it from being computed", change: all(
				withProblem("ImageNotInRelease", "", "liqo/proxy:v1.2.0 is not in the ClusterRelease", true), func(s *snapshot) { s.Components[0].Status.Offers[0].Digest = "" }),
		},
		{check: componentplan.CheckOtherProblem, name: "none", change: withLiqo},
		{check: componentplan.CheckRemovesData, name: "of a component that the target no longer has", want: Block, change: func(s *snapshot) {
			for i := range s.Releases {
				s.Releases[i].Components = []refitv1alpha1.ReleaseComponent{{Name: "other", Version: "v1.0.0"}}
			}
			old := cluster.Release{Name: "kubernetes-v1.35.4", Digest: "sha256:" + strings.Repeat("c", 64)}
			old.Payload.Kubernetes = "v1.35.4"
			old.Components = []refitv1alpha1.ReleaseComponent{{Name: "liqo", Version: "v1.1.2", OnRemove: refitv1alpha1.RemoveUninstall}}
			s.Releases = append(s.Releases, old)
			s.Components = []cluster.Component{{Name: "liqo", ByRefit: true, Manage: refitv1alpha1.ManageRefit, Status: refitv1alpha1.ComponentStatus{
				Owner: refitv1alpha1.OwnerRefit, Installed: &refitv1alpha1.InstalledComponent{Version: "v1.1.2", Namespace: "liqo", Name: "liqo", Revision: 4},
				Offers: []refitv1alpha1.ComponentOffer{{
					Release: refitv1alpha1.ReleaseRef{Name: old.Name, Digest: old.Digest}, Version: "v1.1.2", Action: refitv1alpha1.ActionRemove,
					Kubernetes: "v1.35.4", Digest: "sha256:" + strings.Repeat("a", 64),
					Problems: []refitv1alpha1.ComponentProblem{{
						Reason: componentplan.CheckRemovesData, Object: "PersistentVolumeClaim/data", Message: "the removal deletes it", Remedy: "Annotate it", Blocks: true,
					}},
				}},
			}}}
		}},
		{check: componentplan.CheckOtherProblem, name: "components that need each other", change: all(withLiqo, func(s *snapshot) { s.Releases[0].Components[0].Needs = []string{"liqo"} }), want: Block},
		{check: componentplan.CheckOtherProblem, name: "components that cannot be read", change: all(withLiqo, func(s *snapshot) {
			s.Releases[0].Components, s.Releases[0].ComponentsError = nil, "the components are signed for another release"
		}), want: Block},
		{check: componentplan.CheckOtherProblem, name: "another reason", change: withProblem("ImageNotInRelease", "", "liqo/proxy:v1.2.0 is not in the ClusterRelease", true), want: Block},
	},
		reports(componentplan.CheckDeletesCRD, "CustomResourceDefinition foreignclusters.core.liqo.io", "Helm would delete it with 12 objects"),
		reports(componentplan.CheckRemovesData, "PersistentVolumeClaim/data", "the removal deletes it"),
		reports(componentplan.CheckRefuses, "ForeignCluster turin", "spec.clusterID is required"),
		reports(componentplan.CheckDrops, "ForeignCluster turin", "spec.proxy is dropped"),
		reports(componentplan.CheckGitOps, "", "Flux manages the Helm release liqo/liqo"),
		reports(componentplan.CheckPending, "", "revision 5 is pending-upgrade"),
		reports(componentplan.CheckPeer, "", "liqo 1.2.0 does not work with peer turin, which has 1.0.1"),
		reports(componentplan.CheckPeerUnknown, "", "the version of liqo in peer turin is unknown"),
		reports(componentplan.CheckRecordLarge, "", "Helm's record would have 1.2 MiB"),
		reports(componentplan.CheckFailed, "Check liqo/no-peering-in-progress", "the peering is not established: ForeignCluster turin"),
		reports(componentplan.CheckInvalid, "Check liqo/no-peering-in-progress", "cannot evaluate the rule for ForeignCluster turin: no such key: phase"),
	)
}

// onlyImagesSituations are about nodes that run the version and get the images of components.
func onlyImagesSituations() []situation {
	alone := func(check, name string, want Severity, changes ...change) situation {
		return situation{check: check, name: name, change: all(append([]change{withLiqo}, changes...)...), from: "v1.36.3", to: "v1.36.3", want: want}
	}
	disk := func(free, needed int64) change {
		return onReport("worker-1", func(r *refitv1alpha1.NodeReportStatus) {
			r.Disks = slices.Clone(r.Disks)
			r.Disks[0].FreeMiB, r.Disks[0].NeededMiB = free, needed
		})
	}
	without := onWorker(func(n *cluster.Node) { n.Report = nil })
	missing := alone("AgentMissing", "components alone, missing on one node", Block, without)
	missing.unknown, missing.deferred = true, true
	current := alone("AgentMissing", "the components are current", none, without, func(s *snapshot) {
		s.Components[0].Status.Installed.Version, s.Components[0].Status.Offers = "v1.2.0", nil
	})
	return []situation{
		missing, current,
		alone("AgentMissing", "components alone", none),
		alone("DiskTooSmall", "components alone, and less than an upgrade of the host needs", none, disk(1500, 2048)),
		alone("DiskTooSmall", "components alone, and hardly any space", Warn, disk(500, 2048)),
		alone("ReleaseKeyMissing", "components alone", Block, onReport("worker-1", func(r *refitv1alpha1.NodeReportStatus) { r.ReleaseKeys = nil })),
		alone("AgentTooOld", "components alone, and its agent cannot read the ClusterRelease", Block,
			onReport("worker-1", func(r *refitv1alpha1.NodeReportStatus) { r.PayloadVersion = 1 }), func(s *snapshot) {
				for i := range s.Releases {
					s.Releases[i].PayloadVersion = 2
				}
			}),
		alone("NotInRelease", "components alone, with images of Kubernetes for another architecture", none, archives, onReport("worker-1", toARM)),
		alone("NotInRelease", "components alone, with an image for another architecture", Block, func(s *snapshot) {
			for i := range s.Releases {
				s.Releases[i].Payload.Images = append(s.Releases[i].Payload.Images, refitv1alpha1.ReleaseImage{
					Name: "registry.test/liqo:v1.2.0", OS: "linux", Arch: "amd64", Archive: &refitv1alpha1.Blob{},
				})
			}
		}, onReport("worker-1", toARM)),
		alone("NodeUnderPressure", "components alone", Block, onWorker(func(n *cluster.Node) { n.Pressure = []string{"DiskPressure"} })),
		alone("SwapOn", "components alone", none, onReport("worker-1", func(r *refitv1alpha1.NodeReportStatus) {
			on := true
			r.SwapOn = &on
		})),
	}
}
