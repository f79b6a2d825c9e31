package plan

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// minor is a highly available cluster that is upgraded by one minor version.
func minor(changes ...func(*scenario)) scenario {
	sc := scenario{
		controlPlanes: 3, workers: 2, version: "v1.35.4", releases: []string{"v1.36.3"},
		spec: refitv1alpha1.ClusterUpgradeSpec{Target: refitv1alpha1.Target{Kubernetes: "v1.36.3"}, Approval: refitv1alpha1.ApprovalNone},
	}
	for _, change := range changes {
		change(&sc)
	}
	return sc
}

func shape(controlPlanes, workers int) func(*scenario) {
	return func(sc *scenario) { sc.controlPlanes, sc.workers = controlPlanes, workers }
}

func upgradePath(from, to string, releases ...string) func(*scenario) {
	return func(sc *scenario) { sc.version, sc.spec.Target.Kubernetes, sc.releases = from, to, releases }
}

func pods(loads ...load) func(*scenario) { return func(sc *scenario) { sc.loads = loads } }

func zones(n int) func(*scenario) { return func(sc *scenario) { sc.zones = n } }

func spec(change func(*refitv1alpha1.ClusterUpgradeSpec)) func(*scenario) {
	return func(sc *scenario) { change(&sc.spec) }
}

// pool changes the default pool.
func pool(change func(*refitv1alpha1.Pool)) func(*scenario) {
	return func(sc *scenario) {
		if len(sc.spec.Pools) == 0 {
			sc.spec.Pools = []refitv1alpha1.Pool{{Name: policy.DefaultPool}}
		}
		change(&sc.spec.Pools[0])
	}
}

func atOnce(n int32) func(*scenario) {
	most := intstr.FromInt32(n)
	return pool(func(p *refitv1alpha1.Pool) { p.MaxUnavailable = &most })
}

func drains(timeout time.Duration, onBlocked refitv1alpha1.OnBlocked) func(*scenario) {
	return pool(func(p *refitv1alpha1.Pool) {
		p.Drain.Timeout, p.Drain.OnBlocked = metav1.Duration{Duration: timeout}, onBlocked
	})
}

func oneCanary() func(*scenario) {
	return pool(func(p *refitv1alpha1.Pool) {
		p.Canary = &refitv1alpha1.Canary{Nodes: 1, Soak: metav1.Duration{Duration: 10 * time.Minute}}
	})
}

func byRelease(spec *refitv1alpha1.ClusterUpgradeSpec) {
	spec.Target = refitv1alpha1.Target{Release: "kubernetes-" + spec.Target.Kubernetes}
}

func manual(spec *refitv1alpha1.ClusterUpgradeSpec) { spec.Rollback = refitv1alpha1.RollbackManual }

func approval(spec *refitv1alpha1.ClusterUpgradeSpec) { spec.Approval = refitv1alpha1.ApprovalRequired }

func workersOnly(spec *refitv1alpha1.ClusterUpgradeSpec) { spec.Scope = refitv1alpha1.ScopeWorkers }

func controlPlane(spec *refitv1alpha1.ClusterUpgradeSpec) {
	spec.Scope = refitv1alpha1.ScopeControlPlane
}

// stories are all stories.
var stories = slices.Concat(uneventfulStories, userStories, podStories, failureStories, membershipStories, controlPlaneStories, controllerStories,
	restoreStories, clockStories, backupStories, provenBackupStories, componentStories, aloneStories, windowStories)
