//go:build e2e

package testbed

import (
	"strings"
	"testing"
	"time"

	"github.com/refit-dev/refit/test/testbed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// TestDisk covers the uses of a node's own disk: it can be filled, a power cut loses unsynced
// writes, and a saved disk restores the same node in seconds.
func TestDisk(t *testing.T) {
	c := testbed.Up(t, cluster.Spec{Name: "disk", Kubernetes: older, Disk: 6 << 30})
	n := c.Nodes()[0]
	ctx := t.Context()
	run := func(argv ...string) (string, error) {
		out, err := n.Exec(ctx, argv...)
		return strings.TrimSpace(string(out)), err
	}
	must(t, n.Poweroff(ctx))
	begun := time.Now()
	must(t, n.SaveDisk(ctx, "clean"))
	show(t, "disk_save", time.Since(begun).Seconds(), "s")
	must(t, n.Start(ctx))
	must(t, c.WaitRecovered(ctx, recovery))

	// A running kubelet would evict Pods and remove images to free disk space.
	_, err := run("systemctl", "stop", "kubelet")
	must(t, err)
	if _, err := run("dd", "if=/dev/zero", "of=/var/filler", "bs=1M"); err == nil || !strings.Contains(err.Error(), "No space left") {
		t.Errorf("filling the disk ended with: %v", err)
	}
	_, err = run("rm", "/var/filler")
	must(t, err)
	_, err = run("systemctl", "start", "kubelet")
	must(t, err)

	_, err = run("dd", "if=/dev/urandom", "of=/var/synced", "bs=64k", "count=1", "conv=fsync")
	must(t, err)
	_, err = run("sync")
	must(t, err)
	_, err = run("dd", "if=/dev/urandom", "of=/var/unsynced", "bs=64k", "count=1")
	must(t, err)
	must(t, n.Kill(ctx))
	must(t, n.Start(ctx))
	if size, err := run("stat", "--format=%s", "/var/synced"); err != nil || size != "65536" {
		t.Errorf("the synced file has %s bytes (%v)", size, err)
	}
	if size, err := run("stat", "--format=%s", "/var/unsynced"); err == nil && size == "65536" {
		t.Error("the file that was not synced survived the power cut whole")
	}
	must(t, c.WaitRecovered(ctx, recovery))
	must(t, c.Smoke(ctx))

	// A node that powers itself off leaves its disk mounted; a save must not copy a mounted disk.
	_, err = run("systemctl", "poweroff", "--no-block")
	must(t, err)
	waitFor(t, "the node to be off", func() bool { return n.SaveDisk(ctx, "later") == nil })
	must(t, n.Start(ctx))
	if _, err := run("test", "-e", "/var/synced"); err != nil {
		t.Errorf("what was on the disk is gone: %v", err)
	}

	for range 3 {
		must(t, n.Kill(ctx))
		begun = time.Now()
		must(t, n.RestoreDisk(ctx, "clean"))
		show(t, "disk_restore", time.Since(begun).Seconds(), "s")
		must(t, n.Start(ctx))
		if _, err := run("test", "-e", "/var/synced"); err == nil {
			t.Error("a file written after the save is on the restored disk")
		}
		must(t, c.WaitRecovered(ctx, recovery))
		show(t, "disk_restore_to_ready", time.Since(begun).Seconds(), "s")
	}
	must(t, c.Smoke(ctx))
}
