package cri

import (
	"errors"
	"os"
	"testing"
)

// TestRuntimeOfANode queries the runtime of the control plane node in which it runs. Compile it
// with `go test -c`, and set REFIT_NODE_ARCHIVE to an image archive and REFIT_NODE_IMAGE to the
// name of its image.
func TestRuntimeOfANode(t *testing.T) {
	archive, name := os.Getenv("REFIT_NODE_ARCHIVE"), os.Getenv("REFIT_NODE_IMAGE")
	if archive == "" {
		t.Skip("REFIT_NODE_ARCHIVE is not set: this test changes the images of its machine")
	}
	ctx := t.Context()
	c := dialed(t, DefaultSocket)
	v, err := c.Version(ctx)
	supported, configErr := c.RuntimeConfig(ctx)
	t.Logf("%+v, RuntimeConfig %v", v, supported)
	if err := errors.Join(err, configErr, c.Ready(ctx)); err != nil {
		t.Error(err)
	}
	for _, part := range []string{"etcd", "kube-apiserver"} {
		found, err := c.ContainersOfPod(ctx, "kube-system", part+"-"+hostname(t), part)
		if err != nil || len(found) == 0 || found[0].State != StateRunning {
			t.Fatalf("%s: %+v, %v", part, found, err)
		}
		if log := c.LogTail(ctx, found[0], 300); log == "" {
			t.Errorf("%s has no log in %s", part, found[0].LogPath)
		}
		t.Logf("%+v", found[0])
	}
	running, err := c.Running(ctx)
	if err != nil || len(running) < 4 {
		t.Errorf("running: %+v, %v", running, err)
	}
	if err := Import(ctx, "ctr", DefaultSocket, archive); err != nil {
		t.Fatal(err)
	}
	err = Pin(ctx, "ctr", DefaultSocket, name)
	if err != nil && !errors.Is(err, ErrCannotPin) {
		t.Fatal(err)
	}
	image, imageErr := c.Image(ctx, name)
	if imageErr != nil || !image.Present || image.Pinned != (err == nil) {
		t.Errorf("%+v, %v", image, imageErr)
	}
	t.Logf("%+v, pinned: %v", image, err)
}

func hostname(t *testing.T) string {
	t.Helper()
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	return name
}
