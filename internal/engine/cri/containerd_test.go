package cri

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// binary returns a binary of containerd: from the cache of the testbed, else of the machine.
func binary(t *testing.T, name string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err == nil {
		if found, _ := filepath.Glob(filepath.Join(cache, "refit-testbed/containerd/v2*/bin", name)); len(found) > 0 {
			return found[0]
		}
	}
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	t.Skipf("%s is not installed", name)
	return ""
}

// startContainerd starts a real containerd with directories of its own, and returns its socket.
func startContainerd(t *testing.T) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("containerd starts only as root")
	}
	dir, err := os.MkdirTemp("", "refit-cri-") //nolint:usetesting // sockets need short paths
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "c.sock")
	config := filepath.Join(dir, "config.toml")
	text := fmt.Sprintf(`version = 2
root = "%[1]s/root"
state = "%[1]s/state"
imports = []
[grpc]
  address = "%[1]s/c.sock"
[ttrpc]
  address = "%[1]s/t.sock"
[plugins."io.containerd.grpc.v1.cri".containerd]
  snapshotter = "native"
[plugins."io.containerd.grpc.v1.cri".cni]
  conf_dir = "%[1]s/cni"
[plugins."io.containerd.internal.v1.opt"]
  path = "%[1]s/opt"
[plugins."io.containerd.nri.v1.nri"]
  disable = true
`, dir)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), binary(t, "containerd"), "--config", config)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(log.String()[max(0, log.Len()-3000):])
		}
	})
	return socket
}

// dialed returns a client once the runtime answers.
func dialed(t *testing.T, socket string) *Client {
	t.Helper()
	c, err := Dial(socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if _, err = c.Version(t.Context()); err == nil {
			return c
		}
		if time.Now().After(end) {
			t.Skipf("containerd does not start: %v", err)
		}
	}
}

// imageArchive creates a docker archive with one layer, and returns its path and the ID of the
// image.
func imageArchive(t *testing.T, name string) (path, id string) {
	t.Helper()
	layer := tarOf(t, map[string]string{"hello": "world"})
	config, err := json.Marshal(map[string]any{
		"architecture": runtime.GOARCH, "os": "linux", "config": map[string]any{},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + sumOf(layer)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := json.Marshal([]map[string]any{{"Config": "config.json", "RepoTags": []string{name}, "Layers": []string{"layer.tar"}}})
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "image.tar")
	archive := tarOf(t, map[string]string{"config.json": string(config), "layer.tar": string(layer), "manifest.json": string(manifest)})
	if err := os.WriteFile(path, archive, 0o600); err != nil {
		t.Fatal(err)
	}
	return path, "sha256:" + sumOf(config)
}

func sumOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

func tarOf(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for name, text := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestImagesOfContainerd(t *testing.T) {
	ctr, socket := binary(t, "ctr"), startContainerd(t)
	c := dialed(t, socket)
	ctx := t.Context()
	v, err := c.Version(ctx)
	if err != nil || v.Runtime != "containerd" || v.Version == "" {
		t.Fatalf("%+v, %v", v, err)
	}
	if supported, err := c.RuntimeConfig(ctx); err != nil || !supported && strings.HasPrefix(v.Version, "v2") {
		t.Errorf("RuntimeConfig: %v, %v", supported, err)
	}
	if got := reasonOf(t, c.Ready(ctx)); got != "NetworkNotReady" {
		t.Errorf("ready: %s", got)
	}
	const name = "registry.example.invalid/thing:v1"
	if image, err := c.Image(ctx, name); err != nil || image.Present {
		t.Errorf("before the import: %+v, %v", image, err)
	}
	if err := Unpin(ctx, ctr, socket, name); err != nil {
		t.Errorf("unpinning a missing image: %v", err)
	}
	archive, id := imageArchive(t, name)
	for range 2 {
		if err := Import(ctx, ctr, socket, archive); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := Pin(ctx, ctr, socket, name); err != nil {
			t.Fatal(err)
		}
	}
	if image, err := c.Image(ctx, name); err != nil || image != (Image{Present: true, ID: id, Pinned: true}) {
		t.Errorf("after the import: %+v, %v; want ID %s", image, err, id)
	}
	if err := Unpin(ctx, ctr, socket, name); err != nil {
		t.Error(err)
	}
	if !eventually(func() bool { image, err := c.Image(ctx, name); return err == nil && image.Present && !image.Pinned }) {
		t.Error("the image is still pinned")
	}
	if running, err := c.Running(ctx); err != nil || len(running) > 0 {
		t.Errorf("running: %v, %v", running, err)
	}
	if err := c.StopContainer(ctx, "missing", time.Second); err != nil {
		t.Errorf("stopping a missing container: %v", err)
	}
	if err := os.WriteFile(archive, []byte("not an archive"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := reasonOf(t, Import(ctx, ctr, socket, archive)); got != "ImportFailed" {
		t.Errorf("a broken archive: %s", got)
	}
	if got := reasonOf(t, Pin(ctx, ctr, socket, "registry.example.invalid/absent:v1")); got != "PinFailed" {
		t.Errorf("an absent image: %s", got)
	}
}

func eventually(holds func() bool) bool {
	for range 100 {
		if holds() {
			return true
		}
		time.Sleep(50 * time.Millisecond)
	}
	return false
}

func reasonOf(t *testing.T, err error) string {
	t.Helper()
	var f *node.Failure
	if !errors.As(err, &f) {
		t.Fatalf("not a node.Failure: %v", err)
	}
	if f.Remedy == "" || f.Message == "" {
		t.Errorf("a failure without a remedy or message: %+v", f)
	}
	return f.Reason
}
