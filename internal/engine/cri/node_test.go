package cri

import (
	"errors"
	"os"
	"testing"
)

// TestNodeTellsOfItself asks the runtime of a control plane node, in which it is run: compiled with `go test -c`, with an image archive and that image's
// name in REFIT_NODE_ARCHIVE and REFIT_NODE_IMAGE.
func TestNodeTellsOfItself(t *testing.T) {
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
		found, err := c.Containers(ctx, "kube-system", part)
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
