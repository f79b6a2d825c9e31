//go:build e2e

package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// killedInRenames uses strace on this machine to kill each agent process at one of its renames:
// mostly at a thread's second rename, so that the agent makes progress, and sometimes at the first.
func killedInRenames(f fault) {
	t, s := f.t, f.s
	s.fetched(t)
	s.b.order(t, s.n, permit(refitv1alpha1.PermitApply))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := s.b.waitPhase(ctx, s.n, changing, refitv1alpha1.NodeSucceeded)
		cancel()
		ended <- err
	}()
	kills := 0
	for life := range 60 {
		when := 2
		if life%4 == 0 {
			when = 1
		}
		if ctx.Err() == nil && killAtRename(ctx, s.n, when) == nil {
			kills++
		}
	}
	must(t, <-ended)
	t.Logf("the agent was killed in %d renames", kills)
	if kills < 5 {
		t.Errorf("the agent was killed in %d renames only: the test does not test what it should", kills)
	}
	s.succeeds(t)
}

// killAtRename kills the running agent at its nth rename.
func killAtRename(ctx context.Context, n *cluster.Node, nth int) error {
	pid, err := agentPID(ctx, n)
	if err != nil || pid == 0 {
		return errors.Join(err, errors.New("no agent runs"))
	}
	seen, err := hostPID(n, pid)
	if err != nil {
		return err
	}
	inject := fmt.Sprintf("inject=rename,renameat,renameat2:signal=KILL:when=%d", nth)
	out, err := exec.CommandContext(ctx, "strace", "--quiet=all", "--follow-forks", "--attach="+strconv.Itoa(seen), "-e", "trace=rename,renameat,renameat2",
		"-e", inject).CombinedOutput()
	if !bytes.Contains(out, []byte("killed by SIGKILL")) && !bytes.Contains(out, []byte("INJECTED")) {
		return fmt.Errorf("strace killed nothing: %w: %s", err, out)
	}
	return nil
}

// hostPID returns this machine's PID for a process of a node.
func hostPID(n *cluster.Node, pid int) (int, error) {
	found, err := filepath.Glob("/proc/[0-9]*/status")
	if err != nil {
		return 0, err
	}
	for _, file := range found {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the process has ended
		}
		_, rest, _ := strings.Cut(string(text), "\nNSpid:")
		line, _, _ := strings.Cut(rest, "\n")
		if numbers := strings.Fields(line); len(numbers) != 2 || numbers[1] != strconv.Itoa(pid) {
			continue
		}
		dir := filepath.Dir(file)
		if name, err := os.ReadFile(filepath.Join(dir, "root/etc/hostname")); err == nil && strings.TrimSpace(string(name)) == n.Name() {
			return strconv.Atoi(filepath.Base(dir))
		}
	}
	return 0, fmt.Errorf("process %d of %s is not to be seen from here", pid, n.Name())
}

// rebootsInAStep resets the machine between the swap of the API server's manifest and its
// verification. All writes are on the disk; power cuts are a separate fault.
func rebootsInAStep(f fault) {
	t, s := f.t, f.s
	s.fetched(t)
	s.standAt(t, "swap-apiserver/swap-kube-apiserver:after")
	_, err := s.n.Exec(t.Context(), "sync")
	must(t, err)
	must(t, s.n.Kill(t.Context()))
	must(t, s.n.Start(t.Context()))
	status := s.b.mustPhase(t, s.n, changing, refitv1alpha1.NodeSucceeded)
	boot, err := bootOfAgent(t.Context(), s.n)
	must(t, err)
	if status.BootID != boot {
		t.Errorf("the status is of boot %s, the host is at boot %s", status.BootID, boot)
	}
	s.succeeds(t)
}

// bootOfAgent returns the boot ID that the agent's process sees. Its unit mounts /proc again, so it
// sees the machine's boot ID and not the one that the testbed gives the node.
func bootOfAgent(ctx context.Context, n *cluster.Node) (string, error) {
	pid, err := agentPID(ctx, n)
	if err != nil {
		return "", err
	}
	text, err := readOn(ctx, n, fmt.Sprintf("/proc/%d/root/proc/sys/kernel/random/boot_id", pid))
	return strings.TrimSpace(text), err
}

// bootsAlone reboots a host during its change, without a kubelet and without a network. The agent
// must finish the change and report once the API is reachable.
func bootsAlone(f fault) {
	t, s := f.t, f.s
	s.fetched(t)
	s.standAt(t, "swap-kubelet/swap-kubelet:after")
	must(t, s.n.Kill(t.Context()))
	must(t, s.n.Start(t.Context()))
	_, err := s.n.Exec(t.Context(), "systemctl", "stop", "kubelet")
	must(t, err)
	must(t, s.n.Partition())
	must(t, until(t.Context(), "the agent to start the new kubelet by itself", checkTimeout, func(ctx context.Context) error {
		_, err := s.n.Exec(ctx, "systemctl", "is-active", "kubelet")
		return err
	}))
	must(t, s.n.Heal())
	s.succeeds(t)
}

// powerLostInSwap cuts the power before and after each swap of the kubelet step's binaries. Each
// binary must be completely the old one or completely the new one.
func powerLostInSwap(f fault) {
	t, s := f.t, f.s
	var points []string
	for _, program := range []string{"kubeadm", "kubelet", "kubectl"} {
		points = append(points, "swap-kubelet/swap-"+program+":before", "swap-kubelet/swap-"+program+":after")
	}
	for _, point := range points {
		t.Run(strings.NewReplacer("/", " ", ":", " ").Replace(point), func(t *testing.T) {
			s.fetched(t)
			s.standAt(t, point)
			must(t, s.n.Kill(t.Context()))
			must(t, setPoints(t.Context(), s.n, crashStop, "kubeadm-preflight/started")) // already passed: the agent does not stop again
			must(t, s.n.Start(t.Context()))
			for _, program := range []string{"kubeadm", "kubelet", "kubectl"} {
				s.oldOrNew(t, program)
			}
			s.succeeds(t)
		})
	}
}

// oldOrNew verifies that a binary is either the old or the new one.
func (s *scene) oldOrNew(t *testing.T, program string) {
	t.Helper()
	is, err := bed.StateOf(t.Context(), s.n)
	must(t, err)
	path := "/usr/local/bin/" + program
	if is[path] == s.was[path] {
		return
	}
	for _, f := range s.r.Payload.Files {
		if f.Name == program && f.Digest == "sha256:"+is[path] {
			return
		}
	}
	t.Errorf("%s is neither the old nor the new one: %q", path, is[path])
}

// manifestGone removes a manifest, as its owner or a kubeadm that is killed between its two renames
// does. The agent must not restore what it did not remove. It continues once the manifest is back.
func manifestGone(f fault) {
	t, s := f.t, f.s
	const live, backup = "/etc/kubernetes/manifests/kube-apiserver.yaml", "/etc/kubernetes/tmp/kubeadm-backup-manifests"
	on := func(argv ...string) {
		t.Helper()
		_, err := s.n.Exec(t.Context(), argv...)
		must(t, err)
	}
	s.fetched(t)
	s.standAt(t, "check-host/started")
	on("mkdir", "-p", backup)
	on("mv", live, backup)
	must(t, until(t.Context(), "the API server to be gone", checkTimeout, func(ctx context.Context) error {
		ctx, cancel := soon(ctx)
		defer cancel()
		if _, err := s.b.Client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx); err == nil {
			return errors.New("it still answers")
		}
		return nil
	}))
	must(t, goOn(t.Context(), s.n))
	must(t, until(t.Context(), "the agent to refuse", checkTimeout, func(ctx context.Context) error {
		out, err := s.n.Exec(ctx, agentProgram, "status")
		return errors.Join(err, mentions(string(out), "ManifestMissing"))
	}))
	on("test", "!", "-e", live)
	on("mv", backup+"/kube-apiserver.yaml", live)
	on("rm", "-r", backup)
	must(t, s.b.WaitReady(t.Context(), recovery))
	s.b.mustPhase(t, s.n, checkTimeout, refitv1alpha1.NodeFailed)
	s.b.order(t, s.n, retry)
	s.b.mustPhase(t, s.n, changing, refitv1alpha1.NodeSucceeded)
	s.succeeds(t)
}

// manifestsAlwaysThere checks the manifests continuously while the node changes: each must be in
// its place or complete beside it at all times.
func manifestsAlwaysThere(f fault) {
	t, s := f.t, f.s
	s.fetched(t)
	init, err := hostPID(s.n, 1)
	must(t, err)
	dir := fmt.Sprintf("/proc/%d/root/etc/kubernetes/manifests", init)
	ctx, cancel := context.WithCancel(t.Context())
	looked := make(chan error, 1)
	looks := 0
	go func() {
		defer close(looked)
		for ; ctx.Err() == nil; looks++ {
			if err := allManifests(dir); err != nil {
				looked <- err
				return
			}
			time.Sleep(100 * time.Microsecond)
		}
	}()
	s.b.apply(t, s.n)
	cancel()
	if err := <-looked; err != nil {
		t.Error(err)
	}
	t.Logf("looked %d times", looks)
	s.succeeds(t)
}

// allManifests returns an error if one of the four manifests is neither in its place nor complete
// beside it, or if there is a fifth one that the kubelet would read.
func allManifests(dir string) error {
	for _, component := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"} {
		// A manifest that is removed temporarily gets its second name before it loses the first, so
		// check in this order.
		if whole(filepath.Join(dir, component+".yaml")) || whole(filepath.Join(dir, "."+component+".yaml.refit-old")) {
			continue
		}
		return fmt.Errorf("the manifest of %s is neither in its place nor kept", component)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	seen := 0
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			seen++
		}
	}
	if seen > 4 {
		return fmt.Errorf("the kubelet sees %d manifests", seen)
	}
	return nil
}

func whole(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Size() > 0
}

// noWriteLost writes continuously while the node changes: every acknowledged write must exist
// afterwards, and no copy of etcd's files may be left.
func noWriteLost(f fault) {
	t, s := f.t, f.s
	s.fetched(t)
	ctx, cancel := context.WithCancel(t.Context())
	written := make(chan []string, 1)
	go func() { written <- writeUntil(ctx, s.b, "load") }()
	s.b.apply(t, s.n)
	cancel()
	acknowledged := <-written
	s.succeeds(t)
	must(t, allThere(t.Context(), s.b, acknowledged))
	t.Logf("%d writes were acknowledged, and all are there", len(acknowledged))
	if len(acknowledged) < 20 {
		t.Errorf("%d writes only: the test does not test what it should", len(acknowledged))
	}
}

// singleEtcdAgain covers the deadlock in which kubeadm waits for an API server that waits for etcd.
func singleEtcdAgain(f fault) {
	t, s := f.t, f.s
	var slowest time.Duration
	rounds := bed.Count(t, "REFIT_AGENT_ETCD_ROUNDS", 3)
	for range rounds {
		s.fetched(t)
		s.b.order(t, s.n, permit(refitv1alpha1.PermitApply))
		status := s.b.mustPhase(t, s.n, changing, refitv1alpha1.NodeSucceeded)
		for _, step := range status.Steps {
			if step.Name == "swap-etcd" && step.StartTime != nil && step.CompletionTime != nil {
				slowest = max(slowest, step.CompletionTime.Sub(step.StartTime.Time))
			}
		}
	}
	show(t, "agent_single_etcd_rounds", float64(rounds), "rounds")
	show(t, "agent_single_etcd_slowest", slowest.Seconds(), "s")
	if slowest == 0 || slowest > 2*time.Minute {
		t.Errorf("swapping etcd took %s", slowest)
	}
}

// halfDone kills the agent when etcd is new and the API server is old. The agent must resume
// without restarting the new etcd. The test checks this before the kubelet is swapped, because a
// new kubelet restarts all its pods.
func halfDone(f fault) {
	t, s := f.t, f.s
	s.fetched(t)
	s.standAt(t, "swap-etcd/done")
	before, err := etcdContainer(t.Context(), s)
	must(t, err)
	must(t, setPoints(t.Context(), s.n, crashStop, "swap-kubelet/started"))
	_, err = s.n.Exec(t.Context(), "systemctl", "kill", "--signal=KILL", agentUnit)
	must(t, err)
	must(t, goOn(t.Context(), s.n)) // nothing stops at that point from here on
	must(t, waitStanding(t.Context(), s.n))
	after, err := etcdContainer(t.Context(), s)
	must(t, err)
	if before != after {
		t.Errorf("etcd was started again: %s, then %s", before, after)
	}
	must(t, goOn(t.Context(), s.n))
	s.succeeds(t)
}

// etcdContainer returns the container that etcd runs in, according to its cgroup: the API may be
// unreachable.
func etcdContainer(ctx context.Context, s *scene) (string, error) {
	var found string
	err := until(ctx, "etcd to run", checkTimeout, func(ctx context.Context) error {
		out, err := s.n.Exec(ctx, "pgrep", "--oldest", "--exact", "etcd")
		if err != nil {
			return err
		}
		text, err := readOn(ctx, s.n, "/proc/"+strings.TrimSpace(string(out))+"/cpuset")
		found = filepath.Base(strings.TrimSpace(text))
		return err
	})
	return found, err
}

// containerdKilled kills containerd, once before etcd is swapped and once after. The agent's
// process must survive.
func containerdKilled(f fault) {
	t, s := f.t, f.s
	for _, point := range []string{"swap-etcd/started", "swap-etcd/swap-etcd:after"} {
		t.Run(strings.NewReplacer("/", " ", ":", " ").Replace(point), func(t *testing.T) {
			s.fetched(t)
			s.standAt(t, point)
			pid, err := agentPID(t.Context(), s.n)
			must(t, err)
			_, err = s.n.Exec(t.Context(), "systemctl", "kill", "--signal=KILL", "--kill-who=main", "containerd")
			must(t, err)
			must(t, goOn(t.Context(), s.n))
			s.succeeds(t)
			if now, err := agentPID(t.Context(), s.n); err != nil || now != pid {
				t.Errorf("the agent was process %d and is %d (%v)", pid, now, err)
			}
		})
	}
}

// secondAgent starts a second agent beside the active one.
func secondAgent(f fault) {
	t, s := f.t, f.s
	s.fetched(t)
	s.standAt(t, "swap-kubelet/started")
	pid, err := agentPID(t.Context(), s.n)
	must(t, err)
	out, err := s.n.Exec(t.Context(), "timeout", "20", agentProgram, "run")
	if err == nil {
		t.Fatalf("a second agent ran and ended well: %s", out)
	}
	if mentions(err.Error()+string(out), "another agent") != nil || strings.Contains(err.Error(), "exit status 124") {
		t.Errorf("the second agent does not say that there is another one: %v: %s", err, out)
	}
	must(t, goOn(t.Context(), s.n))
	s.succeeds(t)
	if now, err := agentPID(t.Context(), s.n); err != nil || now != pid {
		t.Errorf("the agent was process %d and is %d (%v)", pid, now, err)
	}
}

// writeUntil creates ConfigMaps one after the other and returns those that were acknowledged.
func writeUntil(ctx context.Context, b *agents, prefix string) (acknowledged []string) {
	for i := 0; ctx.Err() == nil; i++ {
		name := fmt.Sprintf("%s-%d", prefix, i)
		asking, stop := soon(ctx)
		_, err := b.Client.CoreV1().ConfigMaps(metav1.NamespaceDefault).Create(asking, configMap(name), metav1.CreateOptions{})
		stop()
		if err == nil {
			acknowledged = append(acknowledged, name)
		}
		time.Sleep(50 * time.Millisecond)
	}
	return acknowledged
}

func allThere(ctx context.Context, b *agents, names []string) error {
	list, err := b.Client.CoreV1().ConfigMaps(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, one := range list.Items {
		there[one.Name] = true
	}
	var errs []error
	for _, name := range names {
		if !there[name] {
			errs = append(errs, fmt.Errorf("%s was acknowledged and is gone: %w", name, fs.ErrNotExist))
		}
	}
	return errors.Join(errs...)
}
