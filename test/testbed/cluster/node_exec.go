package cluster

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/refit-dev/refit/test/testbed/machine"
)

// Streams are the standard streams of a command.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// ExecStreams runs a command as root inside the node and its cgroup: it is frozen and killed with
// the node.
func (n *Node) ExecStreams(ctx context.Context, io Streams, argv ...string) error {
	group, err := n.cgroup()
	if err != nil {
		return err
	}
	pid, err := group.Init()
	if err != nil {
		return fmt.Errorf("node %s: %w: it is off", n.Name(), err)
	}
	// nsenter forks; its child must die with the testbed, and so with nsenter.
	enter := []string{"nsenter", "--target", strconv.Itoa(pid), "--all", "--", "setpriv", "--pdeathsig", "KILL", "--"}
	return group.RunEntered(n.command(ctx, io, append(enter, argv...)))
}

// onDisk runs a command in the tree of a node that is off.
func (n *Node) onDisk(ctx context.Context, io Streams, argv ...string) error {
	return machine.RunBound(n.command(ctx, io, append([]string{"chroot", n.root()}, argv...)))
}

// inTree runs a command in the node, or in its tree if it is off (see withTree).
func (n *Node) inTree(ctx context.Context, io Streams, argv ...string) error {
	var errs bytes.Buffer
	io.Err = &errs
	run := n.ExecStreams
	if n.State() == "off" {
		run = n.onDisk
	}
	if err := run(ctx, io, argv...); err != nil {
		return fmt.Errorf("%s: %s: %w%s", n.Name(), strings.Join(argv, " "), err, lastLines(errs.String(), 12))
	}
	return nil
}

// Exec runs a command as root inside the node and returns its output. Errors contain the end of its
// error output.
func (n *Node) Exec(ctx context.Context, argv ...string) ([]byte, error) {
	return n.ExecInput(ctx, nil, argv...)
}

// ExecInput is Exec with a standard input.
func (n *Node) ExecInput(ctx context.Context, in io.Reader, argv ...string) ([]byte, error) {
	var out, errs bytes.Buffer
	if err := n.ExecStreams(ctx, Streams{In: in, Out: &out, Err: &errs}, argv...); err != nil {
		return out.Bytes(), fmt.Errorf("%s: %s: %w%s", n.Name(), strings.Join(argv, " "), err, lastLines(errs.String(), 12))
	}
	return out.Bytes(), nil
}

func (n *Node) command(ctx context.Context, io Streams, argv []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	// A child of the killed command may keep its pipes open: do not wait for it forever.
	cmd.WaitDelay = 5 * time.Second
	cmd.Env = []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=/root", "LC_ALL=C.UTF-8", "TERM=" + os.Getenv("TERM"),
		"KUBECONFIG=" + adminConfig,
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = io.In, io.Out, io.Err
	return cmd
}

// Dial connects from the network of the node.
func (n *Node) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	group, err := n.cgroup()
	if err != nil {
		return nil, err
	}
	pid, err := group.Init()
	if err != nil {
		return nil, fmt.Errorf("node %s: %w", n.Name(), err)
	}
	return machine.DialFrom(ctx, pid, network, address)
}

func firstLine(text []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	return line
}

// lastLines returns the last lines of a text as a suffix of an error message.
func lastLines(text string, count int) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	lines := strings.Split(text, "\n")
	return ": " + strings.Join(lines[max(0, len(lines)-count):], "\n")
}
