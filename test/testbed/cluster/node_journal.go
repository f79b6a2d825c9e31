package cluster

import (
	"context"
	"io"
	"os"
	"strconv"
)

// JournalOptions choose what of a node's journal is wanted.
type JournalOptions struct {
	Unit   string
	Lines  int // 0: all
	Follow bool
}

func (o JournalOptions) args() []string {
	args := []string{"--no-pager"}
	if o.Unit != "" {
		args = append(args, "--unit="+o.Unit)
	}
	if o.Lines > 0 {
		args = append(args, "--lines="+strconv.Itoa(o.Lines))
	}
	if o.Follow {
		args = append(args, "--follow")
	}
	return args
}

// ConsoleFile is the file with everything that the node wrote to its console.
func (n *Node) ConsoleFile() string { return n.consoleFile() }

// Journal writes the node's journal, read from its disk if it is off.
func (n *Node) Journal(ctx context.Context, out io.Writer, options JournalOptions) error {
	if n.State() != "off" {
		return n.ExecStreams(ctx, Streams{Out: out, Err: os.Stderr}, append([]string{"journalctl"}, options.args()...)...)
	}
	options.Follow = false // nothing comes
	return n.withTree(ctx, func() error {
		return n.onDisk(ctx, Streams{Out: out, Err: os.Stderr}, append([]string{"journalctl"}, options.args()...)...)
	})
}
