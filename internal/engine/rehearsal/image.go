package rehearsal

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/internal/upgrade/rehearsal"
	"github.com/refit-dev/refit/internal/upgrade/sandbox"
)

// mount mounts an image read-only and returns its directory. A unit in the namespaces of the host
// does it: the mounts of the agent's own namespace are not visible to other units.
//
// The directory stays until the image is unmounted, so that a cleanup finds it even after a reboot.
// Its name is new each time: containerd refuses one that it has not forgotten yet, which takes it
// seconds after an unmount.
func (r *Runner) mount(ctx context.Context, name, image string) (string, error) {
	if err := r.CanMount(); err != nil {
		return "", err
	}
	dir := r.file("images", name+"-"+strings.ToLower(rand.Text()[:10]))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	outcome, err := r.onHost(ctx, unitMount, r.ctr("mount", image, dir))
	if err != nil {
		return "", err
	}
	if outcome.Failed() {
		return "", r.broken("ImageNotMounted", "cannot mount the image "+image,
			"Check that containerd has the image (`ctr --namespace k8s.io images ls`)", unitMount, outcome)
	}
	return dir, nil
}

// CanMount returns a failure if the host cannot mount images.
func (r *Runner) CanMount() error {
	if r.Ctr == "" {
		return node.ManualIntervention("CtrMissing", nil, "Install ctr, which is part of containerd. To upgrade without a proven backup, waive BackupProven",
			"drills need the client of containerd")
	}
	return nil
}

// unmount unmounts an image and removes its snapshot from containerd. Without ctr, containerd
// removes the snapshot when its lease ends.
func (r *Runner) unmount(ctx context.Context, name string) error {
	dir := r.file("images", name)
	command := r.ctr("unmount", "--rm", dir)
	if r.Ctr == "" {
		command = []string{r.Umount, dir}
	}
	outcome, err := r.onHost(ctx, unitUnmount, command)
	if err != nil {
		return err
	}
	// A failure is that of a snapshot which does not exist; a mounted directory cannot be removed.
	if err := os.Remove(dir); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("cannot unmount %s (%s): %w", dir, outcome, err)
	}
	return nil
}

// ctr is a command of containerd's client about images.
func (r *Runner) ctr(args ...string) []string {
	return append([]string{r.Ctr, "--namespace", "k8s.io", "--address", r.Socket, "images"}, args...)
}

// onHost runs a command in the namespaces of the host.
func (r *Runner) onHost(ctx context.Context, unit string, command []string) (sandbox.Outcome, error) {
	return r.task(ctx, sandbox.Unit{
		Name: unit, Description: "Refit: image of a rehearsal", Command: command, Bounds: sandbox.Bounds{Time: r.Timeouts.Mount},
	})
}

// binaries are the directories of an image that can have its binaries.
var binaries = []string{"usr/local/bin", "usr/bin", "bin", "."}

// find returns the path in a sandbox of a binary in a mounted image.
func find(dir, binary string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	for _, folder := range binaries {
		name := binary
		if folder != "." {
			name = folder + "/" + binary
		}
		if info, err := root.Stat(name); err == nil && info.Mode().IsRegular() {
			return rehearsal.Image + "/" + name, nil
		}
	}
	return "", node.ManualIntervention("BinaryMissing", nil, "Check the image; Refit needs one with static binaries, as registry.k8s.io has them",
		"the image does not have %s", binary)
}
