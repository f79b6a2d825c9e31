package cluster

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/refit-dev/refit/test/testbed/machine"
)

// CopyTo copies a file to the node, to exactly that path, or a directory's
// content into that directory. A node that is off is written on its disk.
func (n *Node) CopyTo(ctx context.Context, from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if n.State() == "off" {
		return n.withTree(ctx, func(hostPath func(string) string) error { return copyLocal(ctx, from, hostPath(to)) })
	}
	if !info.IsDir() {
		f, err := os.Open(from)
		if err != nil {
			return err
		}
		defer f.Close()
		return n.write(ctx, to, info.Mode().Perm(), f)
	}
	if _, err := n.Exec(ctx, "mkdir", "-p", "--", to); err != nil {
		return err
	}
	return pipe(func(w io.Writer) error {
		cmd := exec.CommandContext(ctx, "tar", "-C", from, "-cf", "-", ".")
		cmd.Stdout = w
		return machine.RunBound(cmd)
	}, func(r io.Reader) error {
		_, err := n.ExecInput(ctx, r, "tar", "-C", to, "-xf", "-")
		return err
	})
}

// CopyFrom copies a file of the node, or a directory's content, to this machine.
func (n *Node) CopyFrom(ctx context.Context, from, to string) error {
	if n.State() == "off" {
		return n.withTree(ctx, func(hostPath func(string) string) error { return copyLocal(ctx, hostPath(from), to) })
	}
	if _, err := n.Exec(ctx, "test", "-d", from); err == nil {
		if err := os.MkdirAll(to, 0o755); err != nil {
			return err
		}
		return pipe(func(w io.Writer) error {
			return n.ExecStreams(ctx, Streams{Out: w, Err: os.Stderr}, "tar", "-C", from, "-cf", "-", ".")
		}, func(r io.Reader) error {
			cmd := exec.CommandContext(ctx, "tar", "-C", to, "-xf", "-")
			cmd.Stdin = r
			return machine.RunBound(cmd)
		})
	}
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	err = n.ExecStreams(ctx, Streams{Out: f, Err: os.Stderr}, "cat", "--", from)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("copying %s from node %s: %w", from, n.Name(), err)
	}
	return nil
}

// write puts a stream into a file of a running node.
func (n *Node) write(ctx context.Context, path string, mode os.FileMode, from io.Reader) error {
	if _, err := n.ExecInput(ctx, from, "dd", "of="+path, "bs=1M", "status=none"); err != nil {
		return err
	}
	_, err := n.Exec(ctx, "chmod", fmt.Sprintf("%o", mode), "--", path)
	return err
}

func copyLocal(ctx context.Context, from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		if err := os.MkdirAll(to, 0o755); err != nil {
			return err
		}
		from = filepath.Clean(from) + "/."
	}
	return machine.Run(ctx, "cp", "-a", "--", from, to)
}

// pipe joins a writer and a reader that run at once; the first error counts.
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
