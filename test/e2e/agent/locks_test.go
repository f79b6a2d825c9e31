//go:build e2e

package agent

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/builder"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// lockScript locks dpkg as apt does, and then runs what follows.
const lockScript = `use Fcntl; open(F, ">>", "/var/lib/dpkg/lock-frontend") or die; my $l = pack("s s l! l! i", F_WRLCK, 0, 0, 0, 0); fcntl(F, F_SETLK, $l) or exit 3; `

// holding exists while the other package manager is to keep its lock, and held once it has it.
const (
	holding = "/run/other-package-manager"
	held    = holding + ".locked"
	// waitScript is a script of a package.
	waitScript = "touch " + held + "; while test -e " + holding + "; do sleep 1; done\n"
)

// otherManager is a package manager that installs a package whose script waits, as a long update of
// the host does.
type otherManager struct {
	// install is the kind of host, and process the name of the process that has the lock.
	install, process string
	// files are the sources of the package, and build the command that creates it.
	files map[string]string
	build []string
	// run installs the package, even if it is installed already.
	run []string
}

var otherManagers = []otherManager{
	{
		install: builder.InstallDeb, process: "dpkg",
		files: map[string]string{
			"/root/waits/DEBIAN/control": "Package: waits\nVersion: 1\nArchitecture: all\nMaintainer: nobody\nDescription: waits\n",
			"/root/waits/DEBIAN/preinst": "#!/bin/sh\n" + waitScript,
		},
		build: []string{"sh", "-ec", "chmod 0755 /root/waits/DEBIAN /root/waits/DEBIAN/preinst; dpkg-deb --build /root/waits /root/waits.deb"},
		run:   []string{"dpkg", "--install", "/root/waits.deb"},
	},
	{
		install: builder.InstallRpm, process: "rpm",
		files: map[string]string{
			"/root/waits/waits.spec": "Name: waits\nVersion: 1\nRelease: 1\nSummary: waits\nLicense: none\nBuildArch: noarch\n%description\n" +
				"%pre\n" + waitScript + "%files\n",
		},
		build: []string{"rpmbuild", "-bb", "--quiet", "--define", "_topdir /root/waits", "/root/waits/waits.spec"},
		run:   []string{"rpm", "--upgrade", "--replacepkgs", "/root/waits/RPMS/noarch/waits-1-1.noarch.rpm"},
	},
}

// TestAgentPackageLock runs dpkg or rpm on the host for a while, in the full variant for longer
// than any step may take: the agent reports the wait, rolls nothing back, and continues once the
// other one has ended. From then on it keeps other package managers out until the upgrade has
// ended.
func TestAgentPackageLock(t *testing.T) {
	for _, other := range otherManagers {
		t.Run(other.install, func(t *testing.T) {
			b := newBed(t, cluster.Spec{Name: "alock" + other.install, Kubernetes: older, Install: other.install, Containerd: builder.ContainerdDebian})
			n := b.First(cluster.RoleControlPlane)
			r := b.CreateRelease(t, newer)
			b.prefetch(t, r, n)
			other.start(t, n)
			must(t, crashAt(t.Context(), n, crashStop, "swap-kubelet/packages:before"))
			b.order(t, n, permit(refitv1alpha1.PermitApply))
			b.staysWaiting(t, n, other)
			must(t, b.NodeAt(t.Context(), n, older))
			_, err := n.Exec(t.Context(), "rm", holding)
			must(t, err)
			released := time.Now()
			must(t, b.continues(t.Context(), n))
			show(t, "agent_lock_"+other.install+"_resumed", time.Since(released).Seconds(), "s")

			must(t, waitStanding(t.Context(), n))
			if _, err := n.Exec(t.Context(), append([]string{"timeout", "5"}, other.run...)...); err == nil {
				t.Error("another package manager can start during the upgrade")
			}
			must(t, goOn(t.Context(), n))
			b.mustPhase(t, n, changing, refitv1alpha1.NodeSucceeded)
			// The agent releases the lock after it has written the status.
			must(t, until(t.Context(), "the package manager to run again", checkTimeout, func(ctx context.Context) error {
				_, err := n.Exec(ctx, other.run...)
				return err
			}))
			must(t, b.WaitReady(t.Context(), recovery))
			must(t, b.AtRelease(t.Context(), n, r))
		})
	}
}

// start builds the package and starts its installation, which lasts until the file holding is
// removed.
func (m otherManager) start(t *testing.T, n *cluster.Node) {
	t.Helper()
	for path, text := range m.files {
		must(t, writeOn(t.Context(), n, path, text))
	}
	_, err := n.Exec(t.Context(), m.build...)
	must(t, err)
	must(t, writeOn(t.Context(), n, holding, ""))
	_, err = n.Exec(t.Context(), append([]string{"systemd-run", "--unit=other-package-manager"}, m.run...)...)
	must(t, err)
	must(t, until(t.Context(), "the other package manager to run its script", checkTimeout, func(ctx context.Context) error {
		_, err := n.Exec(ctx, "test", "-e", held)
		return err
	}))
}

// staysWaiting checks for a while that the agent waits for the other package manager and reports
// it.
func (b *agents) staysWaiting(t *testing.T, n *cluster.Node, other otherManager) {
	t.Helper()
	words := []string{"(" + other.process + ")", "lock of " + other.process}
	must(t, b.waits(t.Context(), n, words...))
	duration := bed.Duration(t, "REFIT_E2E_LOCK", 30*time.Second)
	reported := ""
	for begun := time.Now(); time.Since(begun) < duration; time.Sleep(time.Second) {
		status := b.status(t, n)
		waiting := meta.FindStatusCondition(status.Conditions, refitv1alpha1.ConditionWaiting)
		if status.Phase != refitv1alpha1.NodeApplying || status.Error != nil || waiting == nil {
			t.Fatalf("after %v: %s, waiting %v", time.Since(begun), tell(status), waiting)
		}
		must(t, mentions(waiting.Message, words...))
		reported = waiting.Message
	}
	t.Logf("the status reports: %s", reported)
	show(t, "agent_lock_"+other.install+"_held", duration.Seconds(), "s")
}

// TestAgentPackageLockAfterACrash kills the agent while it has stopped the API server, and another
// package manager takes the lock of dpkg at that moment. The agent restores the API server before
// it waits for the lock, and finishes the upgrade once the lock is free.
func TestAgentPackageLockAfterACrash(t *testing.T) {
	b := newBed(t, cluster.Spec{Name: "alockc", Kubernetes: older, Install: builder.InstallDeb, Containerd: builder.ContainerdDebian})
	n := b.First(cluster.RoleControlPlane)
	r := b.CreateRelease(t, newer)
	b.prefetch(t, r, n)
	must(t, crashAt(t.Context(), n, crashStop, "swap-etcd/remove-etcd:before"))
	b.order(t, n, permit(refitv1alpha1.PermitApply))
	must(t, waitStanding(t.Context(), n))
	on := func(argv ...string) {
		t.Helper()
		_, err := n.Exec(t.Context(), argv...)
		must(t, err)
	}
	const server = "/etc/kubernetes/manifests/kube-apiserver.yaml"
	on("test", "!", "-e", server)
	on("systemd-run", "--unit=other-package-manager", "perl", "-e", strings.Replace(lockScript, "F_SETLK,", "F_SETLKW,", 1)+"sleep 3600;")
	must(t, setPoints(t.Context(), n, crashLog))
	killed := time.Now()
	on("systemctl", "kill", "--signal=KILL", agentUnit)
	must(t, until(t.Context(), "the API server to be restored", checkTimeout, func(ctx context.Context) error {
		_, err := n.Exec(ctx, "test", "-e", server)
		return err
	}))
	show(t, "agent_restore_after_crash", time.Since(killed).Seconds(), "s")
	must(t, b.waits(t.Context(), n, "perl", "lock of dpkg"))
	must(t, b.NodeAt(t.Context(), n, older))

	on("systemctl", "stop", "other-package-manager")
	b.mustPhase(t, n, changing, refitv1alpha1.NodeSucceeded)
	must(t, b.WaitReady(t.Context(), recovery))
	must(t, b.AtRelease(t.Context(), n, r))
}

func (b *agents) status(t *testing.T, n *cluster.Node) refitv1alpha1.NodeUpgradeStatus {
	t.Helper()
	u, err := b.upgradeOf(t.Context(), n)
	must(t, err)
	return u.Status
}

// waits waits until the status of a node reports a wait with these words.
func (b *agents) waits(ctx context.Context, n *cluster.Node, words ...string) error {
	return until(ctx, "the status to report a wait", checkTimeout, func(ctx context.Context) error {
		u, err := b.upgradeOf(ctx, n)
		if err != nil {
			return err
		}
		waiting := meta.FindStatusCondition(u.Status.Conditions, refitv1alpha1.ConditionWaiting)
		if waiting == nil {
			return fmt.Errorf("it does not wait: %s", tell(u.Status))
		}
		for _, word := range words {
			if !strings.Contains(waiting.Message, word) {
				return errors.New("it reports: " + waiting.Message)
			}
		}
		return nil
	})
}

// continues waits until the status of a node reports no wait.
func (b *agents) continues(ctx context.Context, n *cluster.Node) error {
	return until(ctx, "the wait to end", checkTimeout, func(ctx context.Context) error {
		u, err := b.upgradeOf(ctx, n)
		if err != nil {
			return err
		}
		if waiting := meta.FindStatusCondition(u.Status.Conditions, refitv1alpha1.ConditionWaiting); waiting != nil {
			return errors.New("it reports: " + waiting.Message)
		}
		return nil
	})
}

// TestAgentEtcdLock takes the etcd lock as another host does: neither the swap of etcd nor that of
// the kubelet starts meanwhile. It is held while the kubelet restarts, and free afterwards.
func TestAgentEtcdLock(t *testing.T) {
	b := newBed(t, cluster.Spec{Name: "aetcd", ControlPlanes: 3, Kubernetes: older})
	n := b.First(cluster.RoleControlPlane)
	r := b.CreateRelease(t, newer)
	b.prefetch(t, r, n)
	parts, err := b.Release(t.Context(), newer)
	must(t, err)
	must(t, n.CopyTo(t.Context(), filepath.Join(parts.EtcdBin, "etcdctl"), "/root/etcdctl"))

	must(t, b.setLock(t.Context(), n, "another-host"))
	must(t, crashAt(t.Context(), n, crashStop, "bootstrap-token/kubeadm:after"))
	b.order(t, n, permit(refitv1alpha1.PermitApply))
	must(t, b.waits(t.Context(), n, "another-host"))
	must(t, b.setLock(t.Context(), n, ""))

	must(t, waitStanding(t.Context(), n))
	must(t, b.setLock(t.Context(), n, "another-host"))
	must(t, setPoints(t.Context(), n, crashStop, "swap-kubelet/restart-kubelet:before"))
	must(t, goOn(t.Context(), n))
	must(t, b.waits(t.Context(), n, "another-host"))
	must(t, b.NodeAt(t.Context(), n, older))
	must(t, b.setLock(t.Context(), n, ""))

	must(t, waitStanding(t.Context(), n))
	holder, err := etcdctl(t.Context(), n, "get", "--print-value-only", etcdLockKey)
	must(t, err)
	if strings.TrimSpace(holder) != n.Name() {
		t.Errorf("the lock is held by %q while the kubelet restarts", holder)
	}
	must(t, goOn(t.Context(), n))
	b.mustPhase(t, n, changing, refitv1alpha1.NodeSucceeded)
	holder, err = etcdctl(t.Context(), n, "get", "--print-value-only", etcdLockKey)
	must(t, err)
	if strings.TrimSpace(holder) != "" {
		t.Errorf("the lock is held by %q after the upgrade", holder)
	}
	must(t, b.WaitReady(t.Context(), recovery))
}

const etcdLockKey = "refit.dev/upgrade-lock"

// setLock takes the lock for another host, or releases it.
func (b *agents) setLock(ctx context.Context, n *cluster.Node, holder string) error {
	if holder == "" {
		_, err := etcdctl(ctx, n, "del", etcdLockKey)
		return err
	}
	_, err := etcdctl(ctx, n, "put", etcdLockKey, holder)
	return err
}

func etcdctl(ctx context.Context, n *cluster.Node, args ...string) (string, error) {
	const pki = "/etc/kubernetes/pki/etcd/"
	out, err := n.Exec(ctx, append([]string{
		"/root/etcdctl", "--endpoints=https://127.0.0.1:2379", "--cacert=" + pki + "ca.crt", "--cert=" + pki + "server.crt", "--key=" + pki + "server.key",
	}, args...)...)
	return string(out), err
}

// TestAgentCertificatesDir upgrades a cluster whose certificates are in another directory than
// kubeadm's default. A host whose CA cannot be read reports it and changes nothing.
func TestAgentCertificatesDir(t *testing.T) {
	const pki = "/srv/kubernetes/pki"
	b := newBed(t, cluster.Spec{Name: "apki", Workers: 1, Kubernetes: older, CertificatesDir: pki})
	r := b.CreateRelease(t, newer)
	cp, worker := b.First(cluster.RoleControlPlane), b.First(cluster.RoleWorker)
	if _, err := cp.Exec(t.Context(), "test", "-e", "/etc/kubernetes/pki"); err == nil {
		t.Fatal("the default directory exists")
	}
	b.unreadableCA(t, worker, r, pki+"/ca.crt")
	b.prefetch(t, r, b.Nodes()...)
	before, err := certificateOn(t.Context(), cp, pki+"/apiserver.crt")
	must(t, err)
	for _, n := range b.Nodes() {
		b.apply(t, n)
	}
	b.IsAt(t, r)
	after, err := certificateOn(t.Context(), cp, pki+"/apiserver.crt")
	must(t, err)
	if !after.NotAfter.After(before.NotAfter) {
		t.Error("the API server's certificate was not renewed")
	}
	must(t, b.waitReport(t.Context(), cp, func(r *refitv1alpha1.NodeReport) bool { return len(r.Status.Certificates) > 5 }))
	if _, err := cp.Exec(t.Context(), "test", "-e", "/etc/kubernetes/pki"); err == nil {
		t.Error("the default directory was created")
	}
}

// unreadableCA moves the CA away while an order arrives, and back again.
func (b *agents) unreadableCA(t *testing.T, n *cluster.Node, r *bed.Release, ca string) {
	t.Helper()
	_, err := n.Exec(t.Context(), "mv", ca, "/root/ca.crt")
	must(t, err)
	b.order(t, n, permit(refitv1alpha1.PermitPrefetch), to(r))
	failure := b.mustPhase(t, n, fetching, refitv1alpha1.NodeFailed).Error
	if failure == nil || failure.Reason != "SurveyFailed" || failure.Class != refitv1alpha1.FailureManualIntervention || failure.Remedy == "" {
		t.Errorf("the status reports %+v", failure)
	}
	_, err = n.Exec(t.Context(), "mv", "/root/ca.crt", ca)
	must(t, err)
	b.order(t, n, retry, permit(refitv1alpha1.PermitPrefetch), to(r))
	b.mustPhase(t, n, fetching, refitv1alpha1.NodePrefetched)
}
