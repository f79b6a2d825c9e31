package durabletest

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// inNamespace is set in the process that has its own mount namespace.
const inNamespace = "REFIT_TEST_PRIVATE_MOUNTS"

// PrivateMounts runs a test again in a process with its own mount namespace, so that its mounts do
// not reach the machine. It returns true there, and false in the test itself, which returns then.
func PrivateMounts(t *testing.T) bool {
	t.Helper()
	if os.Getenv(inNamespace) == t.Name() {
		return true
	}
	if os.Getuid() != 0 {
		t.Skip("must run as root to mount")
	}
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1", "-test.v")
	c.Env = append(os.Environ(), inNamespace+"="+t.Name())
	c.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS, Pdeathsig: unix.SIGKILL}
	out, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("in a mount namespace: %v\n%s", err, out)
	}
	return false
}

// MountReadOnly mounts a directory read-only over itself until release is called or the test ends.
// It is for tests with PrivateMounts.
func MountReadOnly(t *testing.T, dir string) (release func()) {
	t.Helper()
	if os.Getenv(inNamespace) != t.Name() {
		t.Fatal("the mount would reach the machine")
	}
	if err := unix.Mount(dir, dir, "", unix.MS_BIND, ""); err != nil {
		t.Skipf("this machine cannot mount: %v", err)
	}
	mounted := true
	release = func() {
		if mounted {
			mounted = false
			_ = unix.Unmount(dir, unix.MNT_DETACH)
		}
	}
	t.Cleanup(release)
	if err := unix.Mount("", dir, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	return release
}
