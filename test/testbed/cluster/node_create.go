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

// create writes the disk of the node: the node image, its container images, and the files that
// identify the node.
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

// layDisk copies everything to a separate ext4, so that fsync, rename and a full disk behave like
// on a real host.
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

// layDirectories shares the node image among all nodes and stores only the changes of this node.
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
		// Packages expect the modes of their directories.
		if info, err := os.Stat(filepath.Join(image.Root, path)); err == nil {
			if err := os.Chmod(n.plainDir(path), info.Mode().Perm()); err != nil {
				return err
			}
		}
	}
	if err := shareImages(ctx, image.Containerd, n.plainDir("/var/lib/containerd")); err != nil {
		return err
	}
	return n.mount(ctx)
}

// shareImages gives a node the container images as hard links: containerd never writes to a blob or
// to the files of an unpacked layer. A test that damages these files needs a node with a separate
// disk.
func shareImages(ctx context.Context, from, to string) error {
	same, err := machine.SameFileSystem(from, to)
	if err != nil {
		return err
	}
	if !same {
		return machine.Run(ctx, "cp", "-a", "--", from+"/.", to)
	}
	if err := machine.Run(ctx, "cp", "-al", "--", from+"/.", to); err != nil {
		return err
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

// unshare replaces a hard link with a copy.
func unshare(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return machine.WriteFileAtomic(path, text, 0o600)
}

// mount mounts the tree of the node at root, as the node sees it.
func (n *Node) mount(ctx context.Context) error {
	mounted, err := machine.Mounted(n.root())
	if err != nil || mounted {
		return err
	}
	if n.hasDisk() {
		return machine.MountDisk(ctx, n.disk(), n.root())
	}
	if err := machine.MountOverlay(n.c.s.Root, filepath.Join(n.dir(), "upper"), filepath.Join(n.dir(), "work"), n.root()); err != nil {
		return err
	}
	for _, path := range plain {
		if err := os.MkdirAll(filepath.Join(n.root(), path), 0o711); err != nil {
			return err
		}
		if err := machine.MountBind(n.plainDir(path), filepath.Join(n.root(), path)); err != nil {
			return err
		}
	}
	return nil
}

// unmount unmounts the tree and waits until nothing uses the disk.
func (n *Node) unmount(ctx context.Context) error {
	if err := machine.UnmountBelow(n.root()); err != nil {
		return err
	}
	if n.hasDisk() {
		return machine.WaitDiskFree(ctx, n.disk())
	}
	return nil
}

// withTree runs work while the tree of the node is accessible, even if the node is off.
func (n *Node) withTree(ctx context.Context, work func() error) (err error) {
	if n.State() != "off" {
		return work()
	}
	if err := n.mount(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.unmount(ctx)) }()
	return work()
}

// requireOff makes sure that the node is off and its disk is unused, even if the node stopped by
// itself or a run was killed while it used the disk.
func (n *Node) requireOff(ctx context.Context) error {
	group, err := n.cgroup()
	if err != nil {
		return err
	}
	pids, err := group.Processes()
	if err != nil {
		return err
	}
	if len(pids) > 0 {
		return fmt.Errorf("node %s is %s; power it off first: testbed node %s poweroff", n.Name(), n.State(), n.Name())
	}
	return n.settle(ctx, group)
}
