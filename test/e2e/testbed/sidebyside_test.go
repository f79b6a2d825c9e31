//go:build e2e

package testbed

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/refit-dev/refit/test/testbed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// TestSideBySide creates two clusters at once, of the oldest and of another version, and removes
// one: the other must be unaffected, and prune must not remove it.
func TestSideBySide(t *testing.T) {
	left := cluster.Spec{Name: "left", Workers: 1, Kubernetes: oldest}
	right := cluster.Spec{Name: "right", Workers: 1, Kubernetes: newer}
	warm(t, left)
	warm(t, right)
	bed := testbed.New(t)
	var group errgroup.Group
	for _, spec := range []cluster.Spec{left, right} {
		group.Go(func() error {
			c, err := bed.Up(t.Context(), spec, false)
			if err != nil {
				return err
			}
			return c.Smoke(t.Context())
		})
	}
	err := group.Wait()
	t.Cleanup(func() {
		for _, name := range []string{"left", "right"} {
			if c, err := bed.Cluster(name); err == nil {
				_ = c.Down(t.Context())
			}
		}
	})
	must(t, err)
	c, err := bed.Cluster("left")
	must(t, err)
	must(t, c.Down(t.Context()))
	removed, err := bed.Prune(t.Context())
	must(t, err)
	if len(removed) > 0 {
		t.Errorf("prune removed %v", removed)
	}
	c, err = bed.Cluster("right")
	must(t, err)
	must(t, c.Smoke(t.Context()))
	must(t, c.Down(t.Context()))
}

// TestCopy copies files and directories to and from a running node and one that is off.
func TestCopy(t *testing.T) {
	c := testbed.Up(t, cluster.Spec{Name: "copy", Kubernetes: older})
	n := c.Nodes()[0]
	dir := t.TempDir()
	source := filepath.Join(dir, "source")
	must(t, os.MkdirAll(filepath.Join(source, "sub"), 0o755))
	must(t, os.WriteFile(filepath.Join(source, "sub", "file"), []byte("refit"), 0o640))
	for _, state := range []string{"running", "off"} {
		if state == "off" {
			must(t, n.Kill(t.Context()))
			// A link in the node must not resolve to a path outside it.
			must(t, n.CopyTo(t.Context(), filepath.Join(source, "sub", "file"), "/var/run/refit-copied"))
			if _, err := os.Stat("/run/refit-copied"); err == nil {
				t.Error("a file for the node was written on the machine")
			}
		}
		must(t, n.CopyTo(t.Context(), source, "/opt/"+state))
		must(t, n.CopyTo(t.Context(), filepath.Join(source, "sub", "file"), "/var/lib/etcd/"+state))
		must(t, n.CopyFrom(t.Context(), "/opt/"+state, filepath.Join(dir, state)))
		must(t, n.CopyFrom(t.Context(), "/var/lib/etcd/"+state, filepath.Join(dir, state+"-file")))
		for _, file := range []string{state + "/sub/file", state + "-file"} {
			if text, err := os.ReadFile(filepath.Join(dir, file)); err != nil || string(text) != "refit" {
				t.Errorf("%s came back as %q: %v", file, text, err)
			}
		}
	}
}
