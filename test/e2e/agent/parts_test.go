//go:build e2e

package agent

import (
	"reflect"
	"slices"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/builder"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// TestAgentParts upgrades hosts that have Kubernetes as plain files and containerd from a package.
// A ClusterRelease without packages is refused before any change. A worker without kubectl is
// upgraded and has none afterwards.
func TestAgentParts(t *testing.T) {
	b := newBed(t, cluster.Spec{Name: "aparts", Workers: 1, Kubernetes: older, Install: builder.InstallBinaries, Containerd: builder.ContainerdDebian})
	worker := b.First(cluster.RoleWorker)
	for _, argv := range [][]string{{"rm", "/usr/local/bin/kubectl"}, {"systemctl", "restart", agentUnit}} {
		_, err := worker.Exec(t.Context(), argv...)
		must(t, err)
	}
	must(t, b.waitReport(t.Context(), worker, func(r *refitv1alpha1.NodeReport) bool {
		has := func(want refitv1alpha1.PartFacts) bool {
			return slices.ContainsFunc(r.Status.Parts, func(p refitv1alpha1.PartFacts) bool { return reflect.DeepEqual(p, want) })
		}
		return r.Status.PackageKind == refitv1alpha1.PackageBinary && has(refitv1alpha1.PartFacts{Part: refitv1alpha1.PartKubectl, Absent: true}) &&
			has(refitv1alpha1.PartFacts{Part: refitv1alpha1.PartContainerd, Kind: refitv1alpha1.PackageDeb, Package: "containerd"})
	}))
	r := b.CreateRelease(t, newer)
	t.Run("ClusterRelease without packages", func(t *testing.T) { b.refusedWithoutPackages(t, worker, r) })
	t.Run("worker without kubectl", func(t *testing.T) {
		b.prefetch(t, r, b.Nodes()...)
		for _, n := range b.Nodes() {
			b.apply(t, n)
			must(t, b.NodeAt(t.Context(), n, newer))
		}
		must(t, b.RuntimeAt(t.Context(), worker, "containerd://2.4.2"))
		_, err := worker.Exec(t.Context(), "sh", "-c", "! command -v kubectl && dpkg --search /usr/bin/containerd")
		must(t, err)
	})
}

func (b *agents) refusedWithoutPackages(t *testing.T, n *cluster.Node, r *bed.Release) {
	t.Helper()
	p := r.Payload
	p.Files = slices.DeleteFunc(slices.Clone(p.Files), func(f refitv1alpha1.ReleaseFile) bool { return f.Kind == refitv1alpha1.PackageDeb })
	before, err := bed.StateOf(t.Context(), n)
	must(t, err)
	b.order(t, n, permit(refitv1alpha1.PermitPrefetch), to(b.signed(t, "without-packages", p, b.Key)))
	status := b.mustPhase(t, n, checkTimeout, refitv1alpha1.NodeFailed)
	if status.Error.Reason != "NotInRelease" {
		t.Errorf("it failed with %+v", status.Error)
	}
	must(t, mentions(status.Error.Message, "containerd of kind Deb"))
	after, err := bed.StateOf(t.Context(), n)
	must(t, err)
	must(t, after.Differences(before))
}

// TestAgentManifests removes a static pod manifest, as an owner does who runs another scheduler.
// The agent refuses the upgrade and does not restore the manifest. It upgrades the host once the
// manifest is back.
func TestAgentManifests(t *testing.T) {
	b := newBed(t, cluster.Spec{Name: "amanif", Kubernetes: older})
	n := b.First(cluster.RoleControlPlane)
	r := b.CreateRelease(t, newer)
	b.prefetch(t, r, n)
	const live, kept = "/etc/kubernetes/manifests/kube-scheduler.yaml", "/root/kube-scheduler.yaml"
	on := func(argv ...string) {
		t.Helper()
		_, err := n.Exec(t.Context(), argv...)
		must(t, err)
	}
	on("mv", live, kept)
	on("systemctl", "restart", agentUnit)
	b.order(t, n, permit(refitv1alpha1.PermitApply))
	status := b.mustPhase(t, n, changing, refitv1alpha1.NodeFailed)
	if status.Error.Reason != "ManifestMissing" {
		t.Errorf("it failed with %+v", status.Error)
	}
	on("test", "!", "-e", live)
	must(t, b.NodeAt(t.Context(), n, older))
	on("mv", kept, live)
	b.order(t, n, retry)
	b.mustPhase(t, n, changing, refitv1alpha1.NodeSucceeded)
	must(t, b.NodeAt(t.Context(), n, newer))
	on("test", "-e", live)
}
