package rehearsal

import (
	"context"
	"fmt"
	"os"

	"github.com/refit-dev/refit/internal/upgrade/rehearsal"
	"github.com/refit-dev/refit/internal/upgrade/sandbox"
)

// Etcdutl is one run of etcdutl, which kubeadm hosts have only in the image of etcd.
type Etcdutl struct {
	Image string
	// Snapshot is a file of the host, and Dir a directory that is written.
	Snapshot, Dir string
	// Args returns the arguments for the paths of both in the sandbox.
	Args func(snapshot, dir string) []string
}

// outputPath is the path of the written directory in a sandbox.
const outputPath = "/.refit/output"

// Etcdutl runs etcdutl in a sandbox that has only the snapshot and the directory.
func (r *Runner) Etcdutl(ctx context.Context, u Etcdutl) error {
	lock, err := r.lock()
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := r.clean(ctx); err != nil {
		return err
	}
	if err := os.MkdirAll(r.Dir, 0o700); err != nil {
		return fmt.Errorf("cannot create the scratch directory: %w", err)
	}
	return joinCleanup(ctx, r.etcdutl(ctx, u), r.clean)
}

func (r *Runner) etcdutl(ctx context.Context, u Etcdutl) error {
	r.progress("", "mounting "+u.Image, r.Timeouts.Mount)
	image, err := r.mount(ctx, "etcd", u.Image)
	if err != nil {
		return err
	}
	binary, err := find(image, "etcdutl")
	if err != nil {
		return err
	}
	r.progress("", "running etcdutl", r.Timeouts.Restore)
	outcome, err := r.task(ctx, sandbox.Unit{
		Name: unitRestore, Description: "Refit: restore of etcd", Command: append([]string{binary}, u.Args(snapshotPath, outputPath)...),
		Bounds: background(1<<30, r.Timeouts.Restore),
		Sandbox: &sandbox.Sandbox{
			ReadOnly: []sandbox.Bind{{Host: image, Path: rehearsal.Image}, {Host: u.Snapshot, Path: snapshotPath}},
			Writable: []sandbox.Bind{{Host: u.Dir, Path: outputPath}},
		},
	})
	if err != nil {
		return err
	}
	if outcome.Failed() {
		return r.broken("RestoreFailed", "etcdutl failed", "Check the disk of "+u.Dir+", then run the same command again", unitRestore, outcome)
	}
	return nil
}
