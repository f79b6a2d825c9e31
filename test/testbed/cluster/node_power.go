package cluster

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/refit-dev/refit/test/testbed/machine"
)

// superviseScript runs systemd-nspawn, and runs it again when the node reboots itself.
//
//go:embed supervise.sh
var superviseScript []byte

const (
	// Signals that make systemd as PID 1 power off (systemd(1)).
	sigPoweroff = unix.Signal(34 + 4) // SIGRTMIN+4

	bootDeadline     = 60 * time.Second
	poweroffDeadline = 120 * time.Second
	killDeadline     = 30 * time.Second
)

// Start boots the node and returns when systemd has finished booting.
func (n *Node) Start(ctx context.Context) error {
	if state := n.State(); state != "off" {
		return fmt.Errorf("node %s is already %s", n.Name(), state)
	}
	// A reboot of the machine removes the bridge and the load balancer.
	if err := n.c.ensureMachine(ctx); err != nil {
		return err
	}
	if err := n.mount(ctx); err != nil {
		return err
	}
	group, err := n.cgroup()
	if err != nil {
		return err
	}
	// Cgroups of the previous boot would confuse a kubelet that has just booted.
	if err := errors.Join(group.Remove(), group.Create()); err != nil {
		return err
	}
	console, err := os.OpenFile(n.consoleFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer console.Close()
	script := filepath.Join(n.dir(), "supervise.sh")
	if err := os.WriteFile(script, superviseScript, 0o755); err != nil {
		return err
	}
	// The node outlives the run that starts it.
	cmd := exec.Command("sh", append([]string{script, n.cable(), group.Divided()}, n.nspawnArgs()...)...) //nolint:noctx // it outlives its caller
	cmd.Env = append(os.Environ(), "SYSTEMD_NSPAWN_API_VFS_WRITABLE=1")
	cmd.Stdout, cmd.Stderr = console, console
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := group.Start(cmd); err != nil {
		return fmt.Errorf("starting node %s: %w", n.Name(), err)
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	return n.waitBooted(ctx, exited)
}

func (n *Node) consoleFile() string { return filepath.Join(n.dir(), "console.log") }

func (n *Node) nspawnArgs() []string {
	return []string{
		"--quiet", "--register=no", "--keep-unit", "--boot", "--console=pipe",
		"--directory=" + n.root(),
		"--machine=" + n.c.s.machineName(n.m.Number),
		"--hostname=" + n.Name(),
		"--network-bridge=" + bridgeName(n.c.s.Number),
		"--private-users=no", "--capability=all",
		"--system-call-filter=@keyring bpf @raw-io @debug @module @clock add_key keyctl",
		"--bind=/dev/kmsg",
		"--link-journal=no", "--resolv-conf=off", "--timezone=off",
		"--bind-ro=" + n.c.s.Apt + ":/srv/apt",
	}
}

// waitBooted waits for systemd. "degraded" is booted as well: some unit of the distribution fails
// in a container.
func (n *Node) waitBooted(ctx context.Context, exited <-chan error) error {
	ctx, cancel := context.WithTimeout(ctx, machine.Timeout(bootDeadline))
	defer cancel()
	var last string
	for {
		out, err := n.Exec(ctx, "systemctl", "is-system-running", "--wait")
		switch last = firstLine(out); last {
		case "running", "degraded":
			return nil
		case "":
			last = fmt.Sprint(err)
		}
		select {
		case err := <-exited:
			return fmt.Errorf("node %s stopped while booting (%w); its console: %s", n.Name(), err, n.consoleFile())
		case <-ctx.Done():
			return fmt.Errorf("node %s has not booted (%w; systemd is %q); its console: %s", n.Name(), ctx.Err(), last, n.consoleFile())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// Poweroff shuts the node down cleanly and waits.
func (n *Node) Poweroff(ctx context.Context) error {
	group, err := n.cgroup()
	if err != nil {
		return err
	}
	pid, err := group.Init()
	if errors.Is(err, machine.ErrNoInit) {
		return n.settle(ctx, group)
	}
	if err != nil {
		return err
	}
	if err := group.Thaw(); err != nil {
		return err
	}
	if err := unix.Kill(pid, sigPoweroff); err != nil {
		return fmt.Errorf("powering off node %s: %w", n.Name(), err)
	}
	limit := machine.Timeout(poweroffDeadline)
	for until := time.Now().Add(limit); ; {
		pids, err := group.Processes()
		if err != nil {
			return err
		}
		if len(pids) == 0 {
			return n.settle(ctx, group)
		}
		if time.Now().After(until) {
			return fmt.Errorf("node %s did not power off within %s: %d processes are left; its console: %s",
				n.Name(), limit, len(pids), n.consoleFile())
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Reboot shuts the node down cleanly and boots it.
func (n *Node) Reboot(ctx context.Context) error {
	if err := n.Poweroff(ctx); err != nil {
		return err
	}
	return n.Start(ctx)
}

// Kill is a power cut: every process of the node dies at the same instant. Files in directories
// stay as they are; a separate disk loses unsynced data.
func (n *Node) Kill(ctx context.Context) error {
	group, err := n.cgroup()
	if err != nil {
		return err
	}
	// Freeze everything first, so that no process sees another one die.
	if pids, err := group.Processes(); err != nil {
		return err
	} else if len(pids) > 0 {
		if err := group.Freeze(); err != nil {
			return err
		}
	}
	if n.hasDisk() {
		if mounted, err := machine.Mounted(n.root()); err != nil {
			return err
		} else if mounted {
			if err := machine.CutPower(n.root()); err != nil {
				return err
			}
		}
	}
	if err := group.Kill(machine.Timeout(killDeadline)); err != nil {
		return err
	}
	return n.settle(ctx, group)
}

// settle removes everything of a stopped node except its disk. The link is deleted by name: TCP
// connections with unsent data keep the network namespace, and with it the link, for minutes.
func (n *Node) settle(ctx context.Context, group machine.Cgroup) error {
	return errors.Join(
		group.Remove(),
		machine.DeleteLink(n.cable()),
		machine.ForgetContainers(n.c.s.machineName(n.m.Number)),
		machine.ForgetRoot(n.root()),
		n.unmount(ctx),
	)
}

// Freeze stops every process of the node, like a hung machine.
func (n *Node) Freeze() error {
	group, err := n.runningGroup()
	if err != nil {
		return err
	}
	return group.Freeze()
}

// Thaw resumes a frozen node.
func (n *Node) Thaw() error {
	group, err := n.runningGroup()
	if err != nil {
		return err
	}
	return group.Thaw()
}

// Partition disconnects the node from the other nodes and the load balancer.
func (n *Node) Partition() error { return n.setCable(false) }

// Heal reconnects the node.
func (n *Node) Heal() error { return n.setCable(true) }

func (n *Node) setCable(up bool) error {
	if _, err := n.runningGroup(); err != nil {
		return err
	}
	return machine.SetLink(n.cable(), up)
}

func (n *Node) runningGroup() (machine.Cgroup, error) {
	group, err := n.cgroup()
	if err != nil {
		return group, err
	}
	if _, err := group.Init(); err != nil {
		return group, fmt.Errorf("node %s is off", n.Name())
	}
	return group, nil
}
