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

// killedInRenames kills each life of the agent at one of its renames, by strace from this machine: mostly at the second of a thread, so that it gets on, and at
// times at the first.
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

// killAtRename kills the agent that runs now at its nth rename.
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

// hostPID is the number by which this machine knows a process of a node.
func hostPID(n *cluster.Node, pid int) (int, error) {
	found, err := filepath.Glob("/proc/[0-9]*/status")
	if err != nil {
		return 0, err
	}
	for _, file := range found {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended meanwhile
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

// rebootsInAStep resets the machine between the swap of the API server's manifest and its proof. What was written is on the disk: power cuts are another fault.
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

// bootOfAgent is the boot that the agent's process sees. Its unit mounts /proc anew, which is the machine's and not the one that a node sees otherwise.
func bootOfAgent(ctx context.Context, n *cluster.Node) (string, error) {
	pid, err := agentPID(ctx, n)
	if err != nil {
		return "", err
	}
	text, err := readOn(ctx, n, fmt.Sprintf("/proc/%d/root/proc/sys/kernel/random/boot_id", pid))
	return strings.TrimSpace(text), err
}

// bootsAlone lets a host boot in the middle of its change, without a kubelet and without a network: the agent must bring it to an end all the same, and tell when
// it can.
func bootsAlone(f fault) {
	t, s := f.t, f.s
	s.fetched(t)
	s.standAt(t, "swap-kubelet/swap-kubelet:after")
	must(t, s.n.Kill(t.Context()))
	must(t, s.n.Start(t.Context()))
	_, err := s.n.Exec(t.Context(), "systemctl", "stop", "kubelet")
	must(t, err)
	must(t, s.n.Partition())
	must(t, until(t.Context(), "the agent to start the new kubelet by itself", patience, func(ctx context.Context) error {
		_, err := s.n.Exec(ctx, "systemctl", "is-active", "kubelet")
		return err
	}))
	must(t, s.n.Heal())
	s.succeeds(t)
}

// powerLostInSwap cuts the power before and after each program of the kubelet's step is swapped. Each program must be the old one or the new one, whole.
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
			must(t, setPoints(t.Context(), s.n, crashStop, "kubeadm-preflight/started")) // which is done: the agent goes on unhindered
			must(t, s.n.Start(t.Context()))
			for _, program := range []string{"kubeadm", "kubelet", "kubectl"} {
				s.oldOrNew(t, program)
			}
			s.succeeds(t)
		})
	}
}

// oldOrNew sees that a program is one of two.
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

// manifestGone takes a manifest away as a kubeadm does that is killed between its two renames. The agent has a copy of its own, and no API.
func manifestGone(f fault) {
	t, s := f.t, f.s
	s.fetched(t)
	s.standAt(t, "check-host/started")
	_, err := s.n.Exec(t.Context(), "mkdir", "-p", "/etc/kubernetes/tmp/kubeadm-backup-manifests")
	must(t, err)
	_, err = s.n.Exec(t.Context(), "mv", "/etc/kubernetes/manifests/kube-apiserver.yaml", "/etc/kubernetes/tmp/kubeadm-backup-manifests/")
	must(t, err)
	must(t, until(t.Context(), "the API server to be gone", patience, func(ctx context.Context) error {
		ctx, cancel := soon(ctx)
		defer cancel()
		if _, err := s.b.Client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx); err == nil {
			return errors.New("it still answers")
		}
		return nil
	}))
	must(t, goOn(t.Context(), s.n))
	s.b.mustPhase(t, s.n, changing, refitv1alpha1.NodeSucceeded)
	_, err = s.n.Exec(t.Context(), "rm", "-r", "/etc/kubernetes/tmp/kubeadm-backup-manifests") // not ours to remove, and told as left behind
	must(t, err)
	s.succeeds(t)
}

// manifestsAlwaysThere looks at the manifests without a pause while the node is changed: none may be in the agent's memory alone.
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

// allManifests tells whether one of four is neither in its place nor kept beside it, whole, or there is a fifth that the kubelet would read.
func allManifests(dir string) error {
	for _, component := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"} {
		// What is taken away for a moment has its second name before it loses the first, so this is the order to look in.
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

// noWriteLost writes all the time while the node is changed: what was acknowledged must be there afterwards, and no copy of etcd's files lies about.
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

// singleEtcdAgain is the case in which kubeadm waits for an API server that waits for etcd.
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

// halfDone kills the agent when etcd is new and the API server old. It must go on, and leave the new etcd alone. That is looked at before the kubelet is swapped: a
// new one starts all its pods again.
func halfDone(f fault) {
	t, s := f.t, f.s
	s.fetched(t)
	s.standAt(t, "swap-etcd/done")
	before, err := etcdContainer(t.Context(), s)
	must(t, err)
	must(t, setPoints(t.Context(), s.n, crashStop, "swap-kubelet/started"))
	_, err = s.n.Exec(t.Context(), "systemctl", "kill", "--signal=KILL", agentUnit)
	must(t, err)
	must(t, goOn(t.Context(), s.n)) // nobody stands there any more
	must(t, waitStanding(t.Context(), s.n))
	after, err := etcdContainer(t.Context(), s)
	must(t, err)
	if before != after {
		t.Errorf("etcd was started again: %s, then %s", before, after)
	}
	must(t, goOn(t.Context(), s.n))
	s.succeeds(t)
}

// etcdContainer is the container that etcd runs in, as its cgroup tells: the API may be away.
func etcdContainer(ctx context.Context, s *scene) (string, error) {
	var found string
	err := until(ctx, "etcd to run", patience, func(ctx context.Context) error {
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

// containerdKilled kills containerd under the agent, which is no child of it: once before etcd is swapped, once behind it.
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

// secondAgent starts another agent beside the one that works.
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

// writeUntil makes ConfigMaps, one after the other, and returns those that were acknowledged.
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
