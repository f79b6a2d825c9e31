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

// TestAgentPackageLock holds the lock of dpkg for longer than any step may take, as a long apt run
// does: the agent reports the wait, rolls nothing back, and continues once the lock is free. From
// then on it keeps other package managers out until the upgrade has ended.
func TestAgentPackageLock(t *testing.T) {
	b := newBed(t, cluster.Spec{Name: "alock", Kubernetes: older, Install: builder.InstallDeb, Containerd: builder.ContainerdDebian})
	n := b.First(cluster.RoleControlPlane)
	r := b.CreateRelease(t, newer)
	b.prefetch(t, r, n)
	_, err := n.Exec(t.Context(), "systemd-run", "--unit=other-package-manager", "perl", "-e", lockScript+"sleep 3600;")
	must(t, err)
	must(t, crashAt(t.Context(), n, crashStop, "swap-kubelet/packages:before"))
	b.order(t, n, permit(refitv1alpha1.PermitApply))
	must(t, b.waits(t.Context(), n, "perl", "lock of dpkg"))

	held := bed.Duration(t, "REFIT_E2E_LOCK", 330*time.Second)
	time.Sleep(held) // the duration is what is tested
	status := b.status(t, n)
	if status.Phase != refitv1alpha1.NodeApplying || status.Error != nil {
		t.Fatalf("after %v: %s", held, tell(status))
	}
	must(t, b.waits(t.Context(), n, "perl", "lock of dpkg"))
	must(t, b.NodeAt(t.Context(), n, older))
	_, err = n.Exec(t.Context(), "systemctl", "stop", "other-package-manager")
	must(t, err)

	must(t, waitStanding(t.Context(), n))
	if _, err := n.Exec(t.Context(), "perl", "-e", lockScript); err == nil {
		t.Error("another package manager can start during the upgrade")
	}
	must(t, goOn(t.Context(), n))
	b.mustPhase(t, n, changing, refitv1alpha1.NodeSucceeded)
	_, err = n.Exec(t.Context(), "perl", "-e", lockScript)
	must(t, err)
	must(t, b.WaitReady(t.Context(), recovery))
	must(t, b.AtRelease(t.Context(), n, r))
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
