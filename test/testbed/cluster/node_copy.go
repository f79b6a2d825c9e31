package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/refit-dev/refit/test/testbed/machine"
)

// CopyTo copies a file to the node at this path, or the content of a directory into this directory.
// If the node is off, it writes to its disk.
func (n *Node) CopyTo(ctx context.Context, from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	return n.withTree(ctx, func() error {
		if !info.IsDir() {
			f, err := os.Open(from)
			if err != nil {
				return err
			}
			defer f.Close()
			return n.write(ctx, to, info.Mode().Perm(), f)
		}
		if err := n.inTree(ctx, Streams{}, "mkdir", "-p", "--", to); err != nil {
			return err
		}
		return pipe(func(w io.Writer) error {
			cmd := exec.CommandContext(ctx, "tar", "-C", from, "-cf", "-", ".")
			cmd.Stdout = w
			return machine.RunBound(cmd)
		}, func(r io.Reader) error {
			return n.inTree(ctx, Streams{In: r}, "tar", "-C", to, "-xf", "-")
		})
	})
}

// CopyFrom copies a file of the node, or the content of a directory, to this machine. The copy is
// readable only by its owner: it may be a secret of the node.
func (n *Node) CopyFrom(ctx context.Context, from, to string) error {
	return n.withTree(ctx, func() error {
		if n.inTree(ctx, Streams{}, "test", "-d", from) != nil {
			f, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
			if err != nil {
				return err
			}
			return errors.Join(n.inTree(ctx, Streams{Out: f}, "cat", "--", from), f.Close())
		}
		if err := os.MkdirAll(to, 0o700); err != nil {
			return err
		}
		return pipe(func(w io.Writer) error {
			return n.inTree(ctx, Streams{Out: w}, "tar", "-C", from, "-cf", "-", ".")
		}, func(r io.Reader) error {
			cmd := exec.CommandContext(ctx, "tar", "-C", to, "-xf", "-")
			cmd.Stdin = r
			return machine.RunBound(cmd)
		})
	})
}

// write writes a stream to a file of the node.
func (n *Node) write(ctx context.Context, path string, mode os.FileMode, from io.Reader) error {
	if err := n.inTree(ctx, Streams{In: from}, "dd", "of="+path, "bs=1M", "status=none"); err != nil {
		return err
	}
	return n.inTree(ctx, Streams{}, "chmod", fmt.Sprintf("%o", mode), "--", path)
}

// pipe runs a writer and a reader concurrently and returns the first error.
func pipe(write func(io.Writer) error, read func(io.Reader) error) error {
	r, w := io.Pipe()
	written := make(chan error, 1)
	go func() {
		err := write(w)
		w.CloseWithError(err)
		written <- err
	}()
	err := read(r)
	r.CloseWithError(io.ErrClosedPipe)
	if e := <-written; err == nil {
		err = e
	}
	return err
}
