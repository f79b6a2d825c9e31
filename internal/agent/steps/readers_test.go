package steps

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// podRuntime is a container runtime, with a kubelet that starts each container again that is
// stopped.
type podRuntime struct {
	runtimeapi.UnimplementedRuntimeServiceServer

	mu         sync.Mutex
	containers []*runtimeapi.ContainerStatus
	stopped    []string
	// down is set while the kubelet starts nothing.
	down bool
}

// runsPods starts the runtime and makes it the one of a host.
func runsPods(t *testing.T, h *Host) *podRuntime {
	t.Helper()
	r := &podRuntime{}
	serveCRI(t, h, func(server *grpc.Server) { runtimeapi.RegisterRuntimeServiceServer(server, r) })
	return r
}

// run adds a running container of a static pod.
func (r *podRuntime) run(pod string, started time.Time) {
	r.containers = append(r.containers, &runtimeapi.ContainerStatus{
		Id: fmt.Sprintf("%s-%d", pod, len(r.containers)), State: runtimeapi.ContainerState_CONTAINER_RUNNING,
		CreatedAt: started.UnixNano(), StartedAt: started.UnixNano(), Labels: map[string]string{
			"io.kubernetes.pod.namespace": "kube-system", "io.kubernetes.pod.name": pod + "-cp-1", "io.kubernetes.container.name": pod,
		},
	})
}

func (r *podRuntime) ListContainers(_ context.Context, q *runtimeapi.ListContainersRequest) (*runtimeapi.ListContainersResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []*runtimeapi.Container
	for _, c := range r.containers {
		if maps.Equal(c.GetLabels(), q.GetFilter().GetLabelSelector()) {
			found = append(found, &runtimeapi.Container{Id: c.GetId(), State: c.GetState(), Labels: c.GetLabels()})
		}
	}
	return &runtimeapi.ListContainersResponse{Containers: found}, nil
}

func (*podRuntime) ListPodSandbox(context.Context, *runtimeapi.ListPodSandboxRequest) (*runtimeapi.ListPodSandboxResponse, error) {
	return &runtimeapi.ListPodSandboxResponse{}, nil
}

func (r *podRuntime) ContainerStatus(_ context.Context, q *runtimeapi.ContainerStatusRequest) (*runtimeapi.ContainerStatusResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &runtimeapi.ContainerStatusResponse{Status: r.containers[r.index(q.GetContainerId())]}, nil
}

func (r *podRuntime) StopContainer(_ context.Context, q *runtimeapi.StopContainerRequest) (*runtimeapi.StopContainerResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = append(r.stopped, q.GetContainerId())
	c := r.containers[r.index(q.GetContainerId())]
	c.State = runtimeapi.ContainerState_CONTAINER_EXITED
	c.FinishedAt = time.Now().UnixNano()
	if r.down {
		return &runtimeapi.StopContainerResponse{}, nil
	}
	r.run(c.GetLabels()["io.kubernetes.container.name"], time.Now())
	return &runtimeapi.StopContainerResponse{}, nil
}

func (r *podRuntime) index(id string) int {
	return slices.IndexFunc(r.containers, func(c *runtimeapi.ContainerStatus) bool { return c.GetId() == id })
}

// readingPod is a static pod that mounts a path of the host, with more fields of its container.
func readingPod(name, path, fields string) string {
	return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", namespace: kube-system}\nspec:\n  containers:\n  - name: " + name +
		"\n    image: example.com/" + name + ":v1\n" + fields + "    volumeMounts: [{name: kubeconfig, mountPath: /etc/kubernetes/admin.conf}]\n" +
		"  volumes:\n  - name: kubeconfig\n    hostPath: {path: " + path + "}\n"
}

// readingHost is a control plane node whose admin.conf was renewed a minute ago.
func readingHost(t *testing.T) (h *Host, r *podRuntime, adminConf string) {
	t.Helper()
	inManifestsDir(t)
	was := kubeconfigsDir
	t.Cleanup(func() { kubeconfigsDir = was })
	kubeconfigsDir = t.TempDir()
	h = testHost(t)
	h.Upgrade.NodeName = "cp-1"
	adminConf = filepath.Join(kubeconfigsDir, "admin.conf")
	put(t, adminConf, "renewed")
	renewed := time.Now().Add(-time.Minute)
	must(t, os.Chtimes(adminConf, renewed, renewed))
	return h, runsPods(t, h), adminConf
}

func TestStaticPodsThatReadARenewedKubeconfigAreRestartedOnce(t *testing.T) {
	h, r, adminConf := readingHost(t)
	put(t, filepath.Join(ManifestsDir, "kube-vip.yaml"), readingPod("kube-vip", adminConf, ""))
	put(t, filepath.Join(ManifestsDir, "directory.yaml"), readingPod("directory", filepath.Dir(adminConf)+"/", ""))
	put(t, filepath.Join(ManifestsDir, "other.yaml"), readingPod("other", adminConf+".d", ""))
	put(t, filepath.Join(ManifestsDir, "recent.yaml"), readingPod("recent", adminConf, ""))
	put(t, filepath.Join(ManifestsDir, "pulled.yaml"), readingPod("pulled", adminConf, "    imagePullPolicy: Always\n"))
	put(t, filepath.Join(ManifestsDir, "kube-scheduler.yaml"), readingPod("kube-scheduler", adminConf, "")) // kubeadm's own pods are swapped
	must(t, os.Symlink(t.TempDir(), filepath.Join(ManifestsDir, "backup.yaml")))
	must(t, os.Symlink(filepath.Join(t.TempDir(), "removed"), filepath.Join(ManifestsDir, "dangling.yaml")))
	must(t, os.Symlink(filepath.Join(ManifestsDir, "loop.yaml"), filepath.Join(ManifestsDir, "loop.yaml")))
	for _, pod := range []string{"kube-vip", "directory", "other", "pulled", "kube-scheduler"} {
		r.run(pod, time.Now().Add(-time.Hour))
	}
	r.run("recent", time.Now())
	if current, err := readersCurrent(t.Context(), h); err != nil || current {
		t.Errorf("before: current %t, %v", current, err)
	}
	for range 2 {
		must(t, restartReaders(t.Context(), h))
	}
	slices.Sort(r.stopped)
	if want := []string{"kube-vip-0"}; !slices.Equal(r.stopped, want) {
		t.Errorf("stopped %q, want %q", r.stopped, want)
	}
	if current, err := readersCurrent(t.Context(), h); err != nil || !current {
		t.Errorf("after: current %t, %v", current, err)
	}
}

// The agent may be killed between the stop and the start, and the undo must leave the pod running.
func TestUndoneRestartLeavesThePodRunning(t *testing.T) {
	h, r, adminConf := readingHost(t)
	put(t, filepath.Join(ManifestsDir, "kube-vip.yaml"), readingPod("kube-vip", adminConf, ""))
	r.run("kube-vip", time.Now().Add(-time.Hour))
	for range 2 {
		if err := finishReaders(t.Context(), h); !errors.Is(err, node.ErrKept) {
			t.Fatalf("error %v", err)
		}
	}
	if last := r.containers[len(r.containers)-1]; last.GetState() != runtimeapi.ContainerState_CONTAINER_RUNNING || len(r.stopped) != 1 {
		t.Errorf("stopped %q, the last container is %v", r.stopped, last.GetState())
	}
}

// A second attempt must not take a pod that was stopped and never came back for a restarted one.
func TestStoppedPodThatDoesNotComeBackFailsEachAttempt(t *testing.T) {
	h, r, adminConf := readingHost(t)
	for _, pod := range []string{"kube-vip", "other"} {
		put(t, filepath.Join(ManifestsDir, pod+".yaml"), readingPod(pod, adminConf, ""))
		r.run(pod, time.Now().Add(-time.Hour))
	}
	r.down = true
	for attempt := range 2 {
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		if err := restartReaders(ctx, h); node.FailureOf(err).Reason != "PodNotRestarted" {
			t.Errorf("attempt %d: %v", attempt, err)
		}
		cancel()
		if current, err := readersCurrent(t.Context(), h); err != nil || current {
			t.Errorf("attempt %d: current %t, %v", attempt, current, err)
		}
	}
	if len(r.stopped) != 2 {
		t.Errorf("stopped %q, want both once", r.stopped)
	}
	// Successors that crash are all that the kubelet still lists.
	r.containers = nil
	for _, pod := range []string{"kube-vip", "other"} {
		r.run(pod, time.Now())
		r.containers[len(r.containers)-1].State = runtimeapi.ContainerState_CONTAINER_EXITED
	}
	if current, err := readersCurrent(t.Context(), h); err != nil || current {
		t.Errorf("with crashing successors: current %t, %v", current, err)
	}
	r.run("kube-vip", time.Now())
	r.run("other", time.Now())
	must(t, restartReaders(t.Context(), h))
}

// A pod that was down before the renewal is nothing that the upgrade has stopped.
func TestPodThatWasDownBeforeTheRenewalIsNotWaitedFor(t *testing.T) {
	h, r, adminConf := readingHost(t)
	put(t, filepath.Join(ManifestsDir, "kube-vip.yaml"), readingPod("kube-vip", adminConf, ""))
	r.run("kube-vip", time.Now().Add(-time.Hour))
	r.containers[0].State = runtimeapi.ContainerState_CONTAINER_EXITED
	r.containers[0].FinishedAt = time.Now().Add(-30 * time.Minute).UnixNano()
	if current, err := readersCurrent(t.Context(), h); err != nil || !current {
		t.Errorf("current %t, %v", current, err)
	}
	must(t, restartReaders(t.Context(), h))
}

// A pod that the kubelet does not start again must not be stopped.
func TestPodsThatMayNotComeBackStay(t *testing.T) {
	for fields, want := range map[string]bool{
		"": false, "    imagePullPolicy: Never\n": false, "    imagePullPolicy: Always\n": true,
	} {
		h, r, adminConf := readingHost(t)
		put(t, filepath.Join(ManifestsDir, "kube-vip.yaml"), readingPod("kube-vip", adminConf, fields))
		r.run("kube-vip", time.Now().Add(-time.Hour))
		must(t, restartReaders(t.Context(), h))
		if stays := len(r.stopped) == 0; stays != want {
			t.Errorf("%q stays: %t", fields, stays)
		}
	}
	h, r, adminConf := readingHost(t)
	put(t, filepath.Join(ManifestsDir, "once.yaml"), readingPod("once", adminConf, "")+"  restartPolicy: OnFailure\n")
	r.run("once", time.Now().Add(-time.Hour))
	must(t, restartReaders(t.Context(), h))
	if len(r.stopped) > 0 {
		t.Errorf("stopped %q", r.stopped)
	}
}
