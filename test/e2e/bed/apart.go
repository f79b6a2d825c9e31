package bed

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
)

// apartVariable marks a process that already runs in its own mount namespace.
const apartVariable = "REFIT_E2E_APART"

// Apart is for TestMain. It runs the tests in their own mount namespace with shared propagation,
// where an unmount takes effect everywhere. On a machine whose root mount is not shared, each node
// keeps the disks of all earlier nodes mounted, and none of them can be saved or restored.
func Apart(m *testing.M) {
	if os.Getenv(apartVariable) != "" || os.Getuid() != 0 {
		os.Exit(m.Run())
	}
	argv := append([]string{"--mount", "--propagation=shared", "--", os.Args[0]}, os.Args[1:]...)
	cmd := exec.Command("unshare", argv...) //nolint:noctx // it ends with us
	cmd.Env = append(os.Environ(), apartVariable+"=1")
	// If this process is killed, the tests end too. Pdeathsig applies to the thread that started
	// them.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		os.Exit(ended.ExitCode())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "running the tests apart:", err)
		os.Exit(1)
	}
}
