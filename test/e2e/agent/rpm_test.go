//go:build e2e

package agent

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/builder"
	"github.com/refit-dev/refit/test/testbed/cluster"
	"github.com/refit-dev/refit/test/testbed/versions"
)

// TestAgentRpm upgrades hosts whose Kubernetes and containerd came from rpm packages. The agent of
// the control plane node is killed at every point, that of the worker at every point of the steps
// that use rpm, after which the worker is as after an undisturbed run. Then both are rolled back:
// rpm's database, the files of Kubernetes and the versions that dnf has locked are as before.
func TestAgentRpm(t *testing.T) {
	b := newBed(t, cluster.Spec{
		Name: "arpm", Workers: 1, Kubernetes: older, Install: builder.InstallRpm, Containerd: builder.ContainerdDebian, Disk: diskSize,
	})
	cp, worker := b.First(cluster.RoleControlPlane), b.First(cluster.RoleWorker)
	r := b.CreateRelease(t, newer)
	before := map[string]bed.State{}
	for _, n := range b.Nodes() {
		before[n.Name()] = rpmState(t, n)
	}
	b.prefetch(t, r, worker) // kube-proxy changes on all nodes at the same time
	b.upgradeWithKills(t, cp, r, "agent_rpm_kills")
	must(t, b.WaitReady(t.Context(), recovery))

	m := newMatrix(t, b, worker, "rpm-worker")
	points := ofPackageSteps(m.points)
	t.Logf("the agent of %s is killed at %d points: %v", worker.Name(), len(points), points)
	begun := time.Now()
	must(t, m.disturbed(t, faultKill, points))
	show(t, "agent_rpm_kills_worker", float64(len(points)), "points")
	show(t, "agent_rpm_kills_worker_took", time.Since(begun).Seconds(), "s")
	b.IsAt(t, r)

	for _, n := range []*cluster.Node{worker, cp} {
		_, err := n.Exec(t.Context(), "systemctl", "stop", agentUnit)
		must(t, err)
		must(t, noCrashes(t.Context(), n))
		if rpmState(t, n).Differences(before[n.Name()]) == nil {
			t.Errorf("the upgrade of %s has changed nothing, so its rollback shows nothing", n.Name())
		}
		begun := time.Now()
		must(t, undo(t, n))
		b.wentBack(t, n)
		show(t, figureName("agent_rpm_rollback_"+n.Role()), time.Since(begun).Seconds(), "s")
		rolledBack(t, n, before[n.Name()])
	}
	must(t, b.objectsAt(t.Context(), older))
	must(t, b.Smoke(t.Context()))
}

// ofPackageSteps returns the points of the steps that use the package manager.
func ofPackageSteps(points []string) []string {
	steps := map[string]bool{}
	for _, point := range points {
		step, effect, _ := strings.Cut(point, "/")
		if effect, _, _ := strings.Cut(effect, ":"); effect == "packages" || effect == "rollback-packages" {
			steps[step] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(points), func(point string) bool {
		step, _, _ := strings.Cut(point, "/")
		return !steps[step]
	})
}

// kubernetesRpms are the packages that a rollback installs.
var kubernetesRpms = []string{"kubeadm", "kubectl", "kubelet", "kubernetes-cni"}

// rpmState is the state of a host, with the files, relations and scripts of Kubernetes' packages in
// the database of rpm.
func rpmState(t *testing.T, n *cluster.Node) bed.State {
	t.Helper()
	state, err := bed.StateOf(t.Context(), n)
	must(t, err)
	query := func(argv ...string) string {
		t.Helper()
		out, err := n.Exec(t.Context(), append([]string{"rpm", "--query"}, argv...)...)
		must(t, err)
		return string(out)
	}
	for _, name := range kubernetesRpms {
		files := query("--queryformat", `[%{FILENAMES} %{FILEMODES:perms} %{FILEUSERNAME} %{FILEGROUPNAME} %{FILEDIGESTS} %{FILESTATES}\n]`, name)
		for line := range lines(files) {
			path, rest, _ := strings.Cut(line, " ")
			state["rpm "+name+" "+path] = rest
		}
		for line := range lines(query("--requires", "--provides", "--conflicts", "--obsoletes", "--recommends", name)) {
			if !strings.HasPrefix(line, "rpmlib(") { // about the format of the package file
				state["rpm "+name+" relation "+line] = "(there)"
			}
		}
		state["rpm "+name+" scripts"] = query("--scripts", name)
	}
	return state
}

// forwardOnly reports whether a part of the state stays new: a rollback keeps etcd and containerd.
func forwardOnly(name string) bool {
	for _, prefix := range []string{
		"package containerd.io", "/usr/bin/containerd", "/usr/bin/ctr", "/usr/bin/runc", "/lib/systemd/system/containerd.service",
		"/etc/containerd/", "/etc/kubernetes/manifests/etcd.yaml",
	} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// rolledBack compares a host with its state before the upgrade, and verifies its packages.
func rolledBack(t *testing.T, n *cluster.Node, before bed.State) {
	t.Helper()
	now := rpmState(t, n)
	if runtime := now["package containerd.io"]; !strings.HasPrefix(runtime, versions.ContainerdRelease+"-") {
		t.Errorf("containerd.io of %s is %s", n.Name(), runtime)
	}
	want := maps.Clone(before)
	for _, state := range []bed.State{want, now} {
		maps.DeleteFunc(state, func(name, _ string) bool { return forwardOnly(name) })
	}
	if err := now.Differences(want); err != nil {
		t.Errorf("%s is not as before the upgrade: %v", n.Name(), err)
	}
	out, err := n.Exec(t.Context(), append([]string{"rpm", "--verify"}, kubernetesRpms...)...)
	if err != nil {
		t.Errorf("rpm --verify on %s reports: %s%v", n.Name(), out, err)
	}
	show(t, figureName("agent_rpm_rollback_"+n.Role()+"_compared"), float64(len(want)), "entries")
}
