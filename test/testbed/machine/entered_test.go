package machine

import (
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// nsenter stops itself when its child is stopped, and waits to be resumed.
func TestEnteredCommandThatStopsItselfIsResumed(t *testing.T) {
	group := newGroup(t)
	cmd := exec.Command("sh", "-c", "kill -STOP $$; exit 3")
	ended := make(chan error, 1)
	go func() { ended <- group.RunEntered(cmd) }()
	select {
	case err := <-ended:
		if code := cmd.ProcessState.ExitCode(); code != 3 {
			t.Errorf("exit code %d (%v), want 3", code, err)
		}
	case <-time.After(20 * time.Second):
		_ = unix.Kill(cmd.Process.Pid, unix.SIGKILL)
		t.Fatal("the stopped command was not resumed")
	}
}
