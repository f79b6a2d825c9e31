//go:build e2e

package agent

import (
	"context"
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// TestAgentUndo rolls back successful upgrades by hand. The rollback of a worker whose kubelet was
// replaced since the upgrade is refused, and so is the one of the control plane node while the
// worker is new. Once the worker is rolled back, the control plane node follows: a file added to
// its pki and a certificate renewed since stay.
func TestAgentUndo(t *testing.T) {
	b := newBed(t, cluster.Spec{Name: "aundo", Workers: 1, Kubernetes: older})
	cp, worker := b.First(cluster.RoleControlPlane), b.First(cluster.RoleWorker)
	r := b.CreateRelease(t, newer)
	b.prefetch(t, r, b.Nodes()...)
	for _, n := range b.Nodes() {
		b.apply(t, n)
	}
	b.IsAt(t, r)
	for _, n := range b.Nodes() {
		_, err := n.Exec(t.Context(), "systemctl", "stop", agentUnit)
		must(t, err)
	}
	t.Run("refused when a program was replaced since", func(t *testing.T) { b.undoRefused(t, worker) })
	t.Run("refused for a control plane node while the worker is new", func(t *testing.T) { b.undoBelowWorker(t, cp, worker, r) })
	t.Run("worker", func(t *testing.T) {
		must(t, undo(t, worker))
		b.wentBack(t, worker)
	})
	t.Run("control plane", func(t *testing.T) { b.undoControlPlane(t, cp) })
}

// undo runs the command and returns its output as an error if it fails.
func undo(t *testing.T, n *cluster.Node) error {
	t.Helper()
	out, err := n.Exec(t.Context(), agentProgram, "undo", "--yes")
	t.Logf("undo on %s: %s", n.Name(), out)
	return err
}

func (b *agents) undoRefused(t *testing.T, n *cluster.Node) {
	t.Helper()
	const kubelet, good = "/usr/local/bin/kubelet", "/root/kubelet.good"
	on := func(argv ...string) {
		t.Helper()
		_, err := n.Exec(t.Context(), argv...)
		must(t, err)
	}
	on("cp", "--preserve", kubelet, good)
	on("cp", "--preserve", kubelet, "/root/kubelet")
	on("dd", "if=/dev/zero", "of=/root/kubelet", "bs=1", "count=1", "oflag=append", "conv=notrunc")
	on("mv", "/root/kubelet", kubelet)
	before, err := bed.StateOf(t.Context(), n)
	must(t, err)
	err = undo(t, n)
	if err == nil {
		t.Fatal("it was not refused")
	}
	for _, word := range []string{"ChangedSince", kubelet, "remedy:"} {
		must(t, mentions(err.Error(), word))
	}
	after, err := bed.StateOf(t.Context(), n)
	must(t, err)
	must(t, after.Differences(before))
	must(t, b.NodeAt(t.Context(), n, newer))
	on("mv", good, kubelet)
}

// undoBelowWorker checks that no API server becomes older than the kubelet of a worker.
func (b *agents) undoBelowWorker(t *testing.T, n, worker *cluster.Node, r *bed.Release) {
	t.Helper()
	before, err := bed.StateOf(t.Context(), n)
	must(t, err)
	err = undo(t, n)
	if err == nil {
		t.Fatal("it was not refused")
	}
	for _, word := range []string{"KubeletsNewer", worker.Name(), "remedy: roll the workers back first"} {
		must(t, mentions(err.Error(), word))
	}
	after, err := bed.StateOf(t.Context(), n)
	must(t, err)
	must(t, after.Differences(before))
	must(t, b.NodeAt(t.Context(), n, newer))
	must(t, b.objectsAt(t.Context(), r.Parts.Kubernetes))
}

// undoControlPlane reproduces a failure of a real cluster: files of the pki vanished.
func (b *agents) undoControlPlane(t *testing.T, n *cluster.Node) {
	t.Helper()
	const added, certificate, key = "/etc/kubernetes/pki/encryption.yaml", "/etc/kubernetes/pki/apiserver.crt", "/etc/kubernetes/pki/sa.key"
	must(t, writeOn(t.Context(), n, added, "kind: EncryptionConfiguration\n"))
	must(t, n.Kubeadm(t.Context(), "certs", "renew", "apiserver"))
	read := func(path string) string {
		t.Helper()
		text, err := readOn(t.Context(), n, path)
		must(t, err)
		return text
	}
	was := map[string]string{added: read(added), certificate: read(certificate), key: read(key)}
	out, err := n.Exec(t.Context(), agentProgram, "undo")
	must(t, err)
	for _, word := range []string{"kubeadm-config", "renewed certificates"} {
		must(t, mentions(string(out), word))
	}
	must(t, undo(t, n))
	b.wentBack(t, n)
	for path, text := range was {
		if read(path) != text {
			t.Errorf("%s was changed by the undo", path)
		}
	}
	must(t, b.objectsAt(t.Context(), older))
}

func (b *agents) wentBack(t *testing.T, n *cluster.Node) {
	t.Helper()
	must(t, b.WaitReady(t.Context(), recovery))
	must(t, until(t.Context(), n.Name()+" to be the older one", checkTimeout, func(ctx context.Context) error { return b.NodeAt(ctx, n, older) }))
}

// objectsAt checks the objects that kubeadm's cluster-wide phases write.
func (b *agents) objectsAt(ctx context.Context, version string) error {
	config, err := b.Client.CoreV1().ConfigMaps(metav1.NamespaceSystem).Get(ctx, "kubeadm-config", metav1.GetOptions{})
	if err != nil {
		return err
	}
	proxy, err := b.Client.AppsV1().DaemonSets(metav1.NamespaceSystem).Get(ctx, "kube-proxy", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if image := proxy.Spec.Template.Spec.Containers[0].Image; !strings.HasSuffix(image, ":"+version) {
		err = errors.New("kube-proxy is of " + image)
	}
	return errors.Join(err, mentions(config.Data["ClusterConfiguration"], "kubernetesVersion: "+version))
}
