//go:build unix

package kubeadm

import (
	"os/exec"
	"syscall"
)

// ownGroup starts a command in its own process group, which is killed when its context ends.
func ownGroup(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
}
