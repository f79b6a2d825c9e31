package bed

import (
	"context"
	"os"
	"path/filepath"

	"github.com/refit-dev/refit/test/testbed/cluster"
)

// WriteOn writes a text file on a node, even on one that is off.
func WriteOn(ctx context.Context, n *cluster.Node, path, text string) error {
	dir, err := os.MkdirTemp("", "refit-e2e-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, filepath.Base(path)), []byte(text), 0o644); err != nil {
		return err
	}
	// CopyTo copies the content of a directory into another one, which it creates.
	return n.CopyTo(ctx, dir, filepath.Dir(path))
}

// ReadOn reads a file of a node.
func ReadOn(ctx context.Context, n *cluster.Node, path string) (string, error) {
	out, err := n.Exec(ctx, "cat", "--", path)
	return string(out), err
}
