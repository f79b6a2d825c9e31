package cri

import (
	"context"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// runtimeService simulates a runtime in situations that are hard to reach with a real one.
type runtimeService struct {
	runtimeapi.UnimplementedRuntimeServiceServer
	runtimeapi.UnimplementedImageServiceServer
	conditions []*runtimeapi.RuntimeCondition
	containers []*runtimeapi.Container
	statuses   map[string]*runtimeapi.ContainerStatus
	filter     *runtimeapi.ContainerFilter
	images     map[string]string // IDs by name
}

func (r *runtimeService) RemoveImage(_ context.Context, q *runtimeapi.RemoveImageRequest) (*runtimeapi.RemoveImageResponse, error) {
	if _, has := r.images[q.GetImage().GetImage()]; !has {
		return nil, status.Error(codes.NotFound, "gone")
	}
	delete(r.images, q.GetImage().GetImage())
	return &runtimeapi.RemoveImageResponse{}, nil
}

func (r *runtimeService) Status(context.Context, *runtimeapi.StatusRequest) (*runtimeapi.StatusResponse, error) {
	return &runtimeapi.StatusResponse{Status: &runtimeapi.RuntimeStatus{Conditions: r.conditions}}, nil
}

func (r *runtimeService) ListContainers(_ context.Context, q *runtimeapi.ListContainersRequest) (*runtimeapi.ListContainersResponse, error) {
	r.filter = q.GetFilter()
	return &runtimeapi.ListContainersResponse{Containers: r.containers}, nil
}

func (r *runtimeService) ListPodSandbox(context.Context, *runtimeapi.ListPodSandboxRequest) (*runtimeapi.ListPodSandboxResponse, error) {
	return &runtimeapi.ListPodSandboxResponse{Items: []*runtimeapi.PodSandbox{
		{Id: "pod", Annotations: map[string]string{"kubernetes.io/config.hash": "abc", "both": "pod"}},
	}}, nil
}

func (r *runtimeService) ContainerStatus(_ context.Context, q *runtimeapi.ContainerStatusRequest) (*runtimeapi.ContainerStatusResponse, error) {
	if s := r.statuses[q.GetContainerId()]; s != nil {
		return &runtimeapi.ContainerStatusResponse{Status: s}, nil
	}
	return nil, status.Error(codes.NotFound, "gone")
}

func serve(t *testing.T, r *runtimeService) *Client {
	t.Helper()
	dir, err := os.MkdirTemp("", "refit-cri-") //nolint:usetesting // sockets need short paths
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "c.sock")
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	runtimeapi.RegisterRuntimeServiceServer(server, r)
	runtimeapi.RegisterImageServiceServer(server, r)
	go func() { _ = server.Serve(l) }()
	t.Cleanup(server.Stop)
	c, err := Dial("unix://" + socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestReadyHasAReasonForRuntimeAndNetwork(t *testing.T) {
	condition := func(kind string, ok bool) *runtimeapi.RuntimeCondition {
		return &runtimeapi.RuntimeCondition{Type: kind, Status: ok, Reason: "Because", Message: "of " + kind}
	}
	for name, c := range map[string]struct {
		conditions []*runtimeapi.RuntimeCondition
		want       string
	}{
		"both":          {[]*runtimeapi.RuntimeCondition{condition("RuntimeReady", true), condition("NetworkReady", true)}, ""},
		"no network":    {[]*runtimeapi.RuntimeCondition{condition("RuntimeReady", true), condition("NetworkReady", false)}, "NetworkNotReady"},
		"neither":       {[]*runtimeapi.RuntimeCondition{condition("RuntimeReady", false), condition("NetworkReady", false)}, "RuntimeNotReady"},
		"no conditions": {nil, "RuntimeNotReady"},
	} {
		t.Run(name, func(t *testing.T) {
			err := serve(t, &runtimeService{conditions: c.conditions}).Ready(t.Context())
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
			} else if got := reasonOf(t, err); got != c.want {
				t.Errorf("reason %s, want %s", got, c.want)
			}
		})
	}
}

func TestRuntimeWithoutRuntimeConfig(t *testing.T) {
	if supported, err := serve(t, &runtimeService{}).RuntimeConfig(t.Context()); supported || err != nil {
		t.Errorf("%v, %v", supported, err)
	}
}

func TestContainersAreSortedNewestFirst(t *testing.T) {
	labels := map[string]string{labelNamespace: "kube-system", labelContainer: "etcd", labelPodName: "etcd-a", labelPodUID: "uid"}
	r := &runtimeService{
		containers: []*runtimeapi.Container{
			{Id: "old", PodSandboxId: "pod", Labels: labels, Metadata: &runtimeapi.ContainerMetadata{Attempt: 3}, ImageRef: "sha256:1"},
			{Id: "gone", PodSandboxId: "pod", Labels: labels},
			{Id: "new", PodSandboxId: "pod", Labels: labels, Metadata: &runtimeapi.ContainerMetadata{Attempt: 4}, ImageRef: "sha256:1"},
		},
		statuses: map[string]*runtimeapi.ContainerStatus{
			"old": {Id: "old", CreatedAt: 1e9, StartedAt: 2e9, FinishedAt: 3e9, ExitCode: 2, Reason: "Error", State: runtimeapi.ContainerState_CONTAINER_EXITED},
			"new": {Id: "new", CreatedAt: 4e9, StartedAt: 5e9, ImageId: "sha256:2", State: runtimeapi.ContainerState_CONTAINER_RUNNING, Annotations: map[string]string{"both": "container"}},
		},
	}
	got, err := serve(t, r).ContainersOfPod(t.Context(), "kube-system", "etcd-a", "etcd")
	if err != nil || len(got) != 2 {
		t.Fatalf("%v, %v", got, err)
	}
	if r.filter.GetLabelSelector()[labelContainer] != "etcd" || r.filter.GetLabelSelector()[labelNamespace] != "kube-system" {
		t.Errorf("the filter is %v", r.filter)
	}
	if n := got[0]; n.ID != "new" || n.State != StateRunning || n.Image != "sha256:2" || n.Attempt != 4 || !n.Finished.IsZero() || n.PodUID != "uid" ||
		n.PodName != "etcd-a" || n.Annotations["kubernetes.io/config.hash"] != "abc" || n.Annotations["both"] != "container" {
		t.Errorf("the newer one: %+v", n)
	}
	if o := got[1]; o.ID != "old" || o.State != StateExited || o.Image != "sha256:1" || o.ExitCode != 2 || o.Finished.IsZero() {
		t.Errorf("the older one: %+v", o)
	}
}

func TestContainersOfOnePodAreListedByItsName(t *testing.T) {
	r := &runtimeService{
		containers: []*runtimeapi.Container{{Id: "one", PodSandboxId: "pod"}},
		statuses:   map[string]*runtimeapi.ContainerStatus{"one": {Id: "one", CreatedAt: 1e9}},
	}
	got, err := serve(t, r).ContainersOfPod(t.Context(), "kube-system", "etcd-a", "etcd")
	if err != nil || len(got) != 1 || got[0].ID != "one" {
		t.Fatalf("%v, %v", got, err)
	}
	if want := map[string]string{labelNamespace: "kube-system", labelPodName: "etcd-a", labelContainer: "etcd"}; !maps.Equal(r.filter.GetLabelSelector(), want) {
		t.Errorf("the filter is %v", r.filter)
	}
}

func TestUnreachableRuntime(t *testing.T) {
	c, err := Dial(filepath.Join(t.TempDir(), "missing.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.Version(t.Context())
	if got := reasonOf(t, err); got != "RuntimeUnreachable" || node.FailureOf(err).Class != refitv1alpha1.FailureTransient {
		t.Errorf("%s: %v", got, err)
	}
}

func TestLogTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "0.log")
	text := "2026-01-01T00:00:00.0Z stdout F first\n" +
		"2026-01-01T00:00:00.1Z stderr P half \n" +
		"2026-01-01T00:00:00.1Z stdout F between\n" +
		"2026-01-01T00:00:00.2Z stderr F and half\n" +
		"2026-01-01T00:00:00.3Z stdout F \n" +
		"garbage\n" +
		"2026-01-01T00:00:00.4Z stdout P no end"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := &Client{}
	if got, want := c.LogTail(t.Context(), Container{LogPath: path}, 1000), "first\nbetween\nhalf and half\n\nno end"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := c.LogTail(t.Context(), Container{LogPath: path}, 10), "\nno end"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := c.LogTail(t.Context(), Container{LogPath: path}, 3); got != "end" {
		t.Errorf("%q", got)
	}
	if got := c.LogTail(t.Context(), Container{LogPath: path + "missing"}, 10); got != "" {
		t.Errorf("%q", got)
	}
	if got := decode("a stdout F cut off\n2026-01-01T00:00:00.0Z stdout F whole\n", true); len(got) != 1 || got[0] != "whole" {
		t.Errorf("%q", got)
	}
	huge := strings.Repeat("2026-01-01T00:00:00.0Z stdout F "+strings.Repeat("x", 100)+"\n", 10000)
	if err := os.WriteFile(path, []byte(huge), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := c.LogTail(t.Context(), Container{LogPath: path}, 250); got != strings.Repeat("x", 100)+"\n"+strings.Repeat("x", 100) {
		t.Errorf("%q", got)
	}
}

func TestRuntimesThatIgnorePins(t *testing.T) {
	for version, want := range map[string]bool{"1.6.20~ds1": true, "v1.6.9": true, "1.7.0": false, "v2.4.2": false, "odd": false} {
		if got := ignoresPins(Version{Runtime: "containerd", Version: version}); got != want {
			t.Errorf("%s: %v", version, got)
		}
	}
	if ignoresPins(Version{Runtime: "cri-o", Version: "1.6.0"}) {
		t.Error("another runtime counts as an old containerd")
	}
}

func TestRequestsHaveADeadline(t *testing.T) {
	ctx, cancel := bounded(t.Context())
	defer cancel()
	if end, ok := ctx.Deadline(); !ok || time.Until(end) > requestTimeout {
		t.Errorf("deadline %v, %v", end, ok)
	}
}

func TestRemoveIsIdempotent(t *testing.T) {
	r := &runtimeService{images: map[string]string{"registry.k8s.io/etcd:3.6.8-0": "sha256:1"}}
	c := serve(t, r)
	for range 2 {
		if err := c.Remove(t.Context(), "registry.k8s.io/etcd:3.6.8-0"); err != nil || len(r.images) > 0 {
			t.Errorf("%v, %v", r.images, err)
		}
	}
}
