//go:build e2e

package agent

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

const filler = "/var/filler"

// fill fills a node's disk completely.
func fill(ctx context.Context, n *cluster.Node) error {
	_, err := n.Exec(ctx, "dd", "if=/dev/zero", "of="+filler, "bs=1M", "conv=fsync")
	if err == nil || !strings.Contains(err.Error(), "No space left") {
		return errors.Join(err, errors.New("the disk did not become full"))
	}
	return nil
}

func makeRoom(ctx context.Context, n *cluster.Node) error {
	_, err := n.Exec(ctx, "rm", "-f", filler)
	return err
}

// fullBeforeFetch leaves too little disk space for the release's files.
func fullBeforeFetch(f fault) {
	t, s := f.t, f.s
	s.again(t)
	// etcd is on this disk too and needs enough space to store the order.
	_, err := s.n.Exec(t.Context(), "fallocate", "--length", free(t, s.n, 150<<20), filler)
	must(t, err)
	s.b.order(t, s.n, permit(refitv1alpha1.PermitPrefetch), to(s.r))
	s.tells(t, "DiskFull")
	must(t, makeRoom(t.Context(), s.n))
	s.untouched(t)
	s.b.order(t, s.n, retry)
	s.b.mustPhase(t, s.n, fetching, refitv1alpha1.NodePrefetched)
	s.b.apply(t, s.n)
	s.succeeds(t)
}

// free returns the number of bytes to allocate so that only left bytes remain.
func free(t *testing.T, n *cluster.Node, left int64) string {
	t.Helper()
	out, err := n.Exec(t.Context(), "df", "--output=avail", "--block-size=1", "/")
	must(t, err)
	fields := strings.Fields(string(out))
	return itoa(atoi(t, fields[len(fields)-1]) - left)
}

// tells waits until the status reports a failure that contains one of these words, whether or not
// the agent retries.
func (s *scene) tells(t *testing.T, words ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), checkTimeout)
	defer cancel()
	var last refitv1alpha1.NodeUpgradeStatus
	err := bed.Follow(ctx, s.b.Bed, bed.NodeUpgrades, s.n.Name(), func(u *refitv1alpha1.NodeUpgrade) bool {
		last = u.Status
		text := ""
		if last.Error != nil {
			text = last.Error.Reason + " " + last.Error.Message
		}
		for _, c := range last.Conditions {
			text += " " + c.Message
		}
		for _, word := range words {
			if strings.Contains(text, word) {
				return true
			}
		}
		return false
	})
	if err != nil {
		t.Fatalf("nothing tells of %v: %s, %v: %v", words, tell(last), last.Conditions, err)
	}
}

// fullBeforeChange fills the disk after the fetch and before the first change: the operation must
// fail without changes.
func fullBeforeChange(f fault) {
	t, s := f.t, f.s
	s.fetched(t)
	s.standAt(t, "stage-files/started")
	must(t, fill(t.Context(), s.n))
	must(t, goOn(t.Context(), s.n))
	s.tells(t, "DiskFull", "room", "space")
	must(t, makeRoom(t.Context(), s.n))
	s.untouched(t)
	s.retried(t)
}

// fullInChange fills the disk just before the kubelet is swapped. The node must end at one of the
// two versions, and resume once there is disk space.
func fullInChange(f fault) {
	t, s := f.t, f.s
	s.fetched(t)
	s.standAt(t, "swap-kubelet/swap-kubelet:before")
	must(t, fill(t.Context(), s.n))
	must(t, goOn(t.Context(), s.n))
	status := s.b.mustPhase(t, s.n, changing, refitv1alpha1.NodeSucceeded, refitv1alpha1.NodeRolledBack, refitv1alpha1.NodeFailed)
	t.Logf("with a full disk the node is %s", tell(status))
	for _, program := range []string{"kubeadm", "kubelet", "kubectl"} {
		s.oldOrNew(t, program)
	}
	if status.Phase == refitv1alpha1.NodeFailed {
		t.Errorf("a full disk stopped the way back")
	}
	must(t, makeRoom(t.Context(), s.n))
	if status.Phase == refitv1alpha1.NodeSucceeded {
		s.succeeds(t)
		return
	}
	s.retried(t)
}

// readOnly remounts the file system read-only, as ext4 does when its disk fails. The agent must
// stop and report it, and must neither reboot the host nor swap anything.
func readOnly(f fault) {
	t, s := f.t, f.s
	s.fetched(t)
	s.standAt(t, "stage-files/started")
	boot, err := readOn(t.Context(), s.n, "/proc/sys/kernel/random/boot_id")
	must(t, err)
	if _, err := s.n.Exec(t.Context(), "mount", "-o", "remount,abort", "/"); err != nil {
		t.Logf("%v", err) // the remount may report that the file system is now read-only
	}
	if _, err := s.n.Exec(t.Context(), "touch", "/var/there"); err == nil {
		t.Fatal("the disk can still be written to")
	}
	must(t, goOn(t.Context(), s.n))
	s.tells(t, "ReadOnly", "JournalBroken", "read-only")
	time.Sleep(30 * time.Second) // nothing may change during this time
	if now, err := readOn(t.Context(), s.n, "/proc/sys/kernel/random/boot_id"); err != nil || now != boot {
		t.Errorf("the host was rebooted (%v)", err)
	}
	for _, program := range []string{"kubeadm", "kubelet", "kubectl"} {
		s.oldOrNew(t, program)
	}
	// Repair the disk.
	must(t, s.n.Kill(t.Context()))
	must(t, s.n.Start(t.Context()))
	s.retried(t)
}
