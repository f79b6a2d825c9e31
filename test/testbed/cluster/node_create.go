package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/refit-dev/refit/test/testbed/builder"
	"github.com/refit-dev/refit/test/testbed/machine"
)

// create lays the node's disk: the node image, its container images, and the
// files that make it this node and no other.
func (n *Node) create(ctx context.Context, image builder.NodeImage) error {
	if err := os.MkdirAll(n.root(), 0o755); err != nil {
		return err
	}
	lay := n.layDirectories
	if n.hasDisk() {
		lay = n.layDisk
	}
	if err := lay(ctx, image); err != nil {
		return err
	}
	return n.writeFiles()
}

// layDisk copies everything into an ext4 of the node's own, so that what is seen
// there of fsync, rename and a full disk is what a real host shows.
func (n *Node) layDisk(ctx context.Context, image builder.NodeImage) error {
	if err := machine.CreateDisk(ctx, n.disk(), n.c.s.Disk); err != nil {
		return err
	}
	if err := n.mount(ctx); err != nil {
		return err
	}
	if err := machine.Run(ctx, "cp", "-a", "--", image.Root+"/.", n.root()); err != nil {
		return err
	}
	to := filepath.Join(n.root(), "var/lib/containerd")
	if err := os.MkdirAll(to, 0o711); err != nil {
		return err
	}
	return machine.Run(ctx, "cp", "-a", "--", image.Containerd+"/.", to)
}

// layDirectories shares the node image with all nodes and keeps only what this one writes.
func (n *Node) layDirectories(ctx context.Context, image builder.NodeImage) error {
	for _, dir := range []string{"upper", "work"} {
		if err := os.MkdirAll(filepath.Join(n.dir(), dir), 0o755); err != nil {
			return err
		}
	}
	for _, path := range plain {
		if err := os.MkdirAll(n.plainDir(path), 0o711); err != nil {
			return err
		}
	}
	if err := shareImages(ctx, image.Containerd, n.plainDir("/var/lib/containerd")); err != nil {
		return err
	}
	return n.mount(ctx)
}

// shareImages gives a node the container images by hard links: containerd never
// writes into a blob or into the files of an unpacked layer, it only adds and
// unlinks. Whoever wants to damage these files in a test uses a node with a disk of its own.
func shareImages(ctx context.Context, from, to string) error {
	err := machine.Run(ctx, "cp", "-al", "--", from+"/.", to)
	if err != nil {
		// The cache lies on another file system.
		return machine.Run(ctx, "cp", "-a", "--", from+"/.", to)
	}
	return filepath.WalkDir(to, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "snapshots" || d.Name() == "blobs") {
			return filepath.SkipDir
		}
		if d.Type().IsRegular() && strings.HasSuffix(d.Name(), ".db") {
			return unshare(path)
		}
		return nil
	})
}

// unshare replaces a hard link by a copy.
func unshare(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return machine.WriteFileAtomic(path, text, 0o600)
}

// mount makes the node's tree visible at root.
func (n *Node) mount(ctx context.Context) error {
	mounted, err := machine.Mounted(n.root())
	if err != nil || mounted {
		return err
	}
	if n.hasDisk() {
		return machine.MountDisk(ctx, n.disk(), n.root())
	}
	return machine.MountOverlay(n.c.s.Root, filepath.Join(n.dir(), "upper"), filepath.Join(n.dir(), "work"), n.root())
}

// unmount takes the tree away and waits until nothing holds the disk.
func (n *Node) unmount(ctx context.Context) error {
	if err := machine.UnmountBelow(n.root()); err != nil {
		return err
	}
	if n.hasDisk() {
		return machine.WaitDiskFree(ctx, n.disk())
	}
	return nil
}

// withTree runs work on the tree of a node that is off.
func (n *Node) withTree(ctx context.Context, work func(hostPath func(string) string) error) (err error) {
	if err := n.mount(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.unmount(ctx)) }()
	return work(func(path string) string {
		path = filepath.Clean("/" + path)
		for _, p := range plain {
			if rest, ok := strings.CutPrefix(path, p); ok && !n.hasDisk() && (rest == "" || rest[0] == '/') {
				return n.plainDir(p) + rest
			}
		}
		return n.root() + path
	})
}

// requireOff refuses work on the disk of a node that runs.
func (n *Node) requireOff() error {
	if state := n.State(); state != "off" {
		return fmt.Errorf("node %s is %s; power it off first: testbed node %s poweroff", n.Name(), state, n.Name())
	}
	return nil
}
