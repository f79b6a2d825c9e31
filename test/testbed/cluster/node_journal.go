package cluster

import (
	"context"
	"io"
	"os"
	"strconv"
)

// JournalOptions select the entries of a node's journal.
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

// ConsoleFile returns the path of the node's console log.
func (n *Node) ConsoleFile() string { return n.consoleFile() }

// Journal writes the journal of the node, read from its disk if it is off.
func (n *Node) Journal(ctx context.Context, out io.Writer, options JournalOptions) error {
	if n.State() != "off" {
		return n.ExecStreams(ctx, Streams{Out: out, Err: os.Stderr}, append([]string{"journalctl"}, options.args()...)...)
	}
	options.Follow = false // there are no new entries
	return n.withTree(ctx, func() error {
		return n.onDisk(ctx, Streams{Out: out, Err: os.Stderr}, append([]string{"journalctl"}, options.args()...)...)
	})
}
