package steps

import (
	"context"
	"maps"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// fakeRuntime is a container runtime with images by name, and a registry from which it pulls.
type fakeRuntime struct {
	runtimeapi.UnimplementedImageServiceServer
	mu               sync.Mutex
	images, registry map[string]string
	pulls            []string
}

// runtimeFor starts a runtime and makes it the one of a host.
func runtimeFor(t *testing.T, h *Host, registry map[string]string) *fakeRuntime {
	t.Helper()
	r := &fakeRuntime{images: map[string]string{}, registry: registry}
	serveCRI(t, h, func(server *grpc.Server) { runtimeapi.RegisterImageServiceServer(server, r) })
	return r
}

// serveCRI serves the container runtime of a host.
func serveCRI(t *testing.T, h *Host, register func(*grpc.Server)) {
	t.Helper()
	dir, err := os.MkdirTemp("", "refit-cri-") //nolint:usetesting // sockets need short paths
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	h.Settings.CRISocket = filepath.Join(dir, "c.sock")
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "unix", h.Settings.CRISocket)
	must(t, err)
	server := grpc.NewServer()
	register(server)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
}

func (r *fakeRuntime) ImageStatus(_ context.Context, q *runtimeapi.ImageStatusRequest) (*runtimeapi.ImageStatusResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id, has := r.images[q.GetImage().GetImage()]
	if !has {
		return &runtimeapi.ImageStatusResponse{}, nil
	}
	return &runtimeapi.ImageStatusResponse{Image: &runtimeapi.Image{Id: id}}, nil
}

func (r *fakeRuntime) PullImage(_ context.Context, q *runtimeapi.PullImageRequest) (*runtimeapi.PullImageResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := q.GetImage().GetImage()
	r.pulls = append(r.pulls, name)
	id, has := r.registry[name]
	if !has {
		return nil, status.Error(codes.NotFound, "the registry does not have it")
	}
	r.images[name] = id
	return &runtimeapi.PullImageResponse{ImageRef: id}, nil
}

func (r *fakeRuntime) RemoveImage(_ context.Context, q *runtimeapi.RemoveImageRequest) (*runtimeapi.RemoveImageResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.images, q.GetImage().GetImage())
	return &runtimeapi.RemoveImageResponse{}, nil
}

// lose removes an image, as the garbage collection does.
func (r *fakeRuntime) lose(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.images, name)
}

// state returns the images and the pulls so far.
func (r *fakeRuntime) state() (images map[string]string, pulls []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.images), append([]string(nil), r.pulls...)
}
