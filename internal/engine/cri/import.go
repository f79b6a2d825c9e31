package cri

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// ErrCannotPin is the error of a runtime that ignores pinned images (containerd before 1.7), so
// that the kubelet may remove one. The caller keeps the archive. The label is set nevertheless, and
// a newer containerd reads it.
var ErrCannotPin = errors.New("this container runtime cannot pin images")

const (
	namespace = "k8s.io"
	pinLabel  = "io.cri-containerd.pinned"
	// pinTimeout bounds the wait until containerd has read a label.
	pinTimeout = 10 * time.Second
	// maxTail bounds the output that a failure keeps.
	maxTail = 4 << 10
)

// Import imports an image archive into containerd, for the platform of this host, under the names
// in the archive. A second import changes nothing.
func Import(ctx context.Context, ctr, socket, archive string) error {
	// ctr could read a relative path as an option, or - as its input.
	path, err := filepath.Abs(archive)
	if err != nil {
		return fmt.Errorf("cannot find %s: %w", archive, err)
	}
	if _, err := run(ctx, ctr, "--address", socket, "--namespace", namespace, "images", "import", path); err != nil {
		return failed(ctx, err, "ImportFailed",
			"Check the archive (`refit release verify`) and the disk space of the host (`df -h /var/lib/containerd`), then run `refit retry`",
			"cannot import the image archive %s", path)
	}
	return nil
}

// Pin excludes an image from the garbage collection of the kubelet, and checks that it does.
func Pin(ctx context.Context, ctr, socket, name string) error {
	if err := label(ctx, ctr, socket, name, pinLabel+"=pinned"); err != nil {
		return err
	}
	client, err := Dial(socket)
	if err != nil {
		return err
	}
	defer client.Close()
	if v, err := client.Version(ctx); err == nil && ignoresPins(v) {
		return ErrCannotPin
	}
	return client.waitPinned(ctx, name)
}

// Unpin returns an image to the garbage collection. A missing image is not pinned.
func Unpin(ctx context.Context, ctr, socket, name string) error {
	client, err := Dial(socket)
	if err != nil {
		return err
	}
	defer client.Close()
	image, err := client.Image(ctx, name)
	if err != nil || !image.Present {
		return err
	}
	return label(ctx, ctr, socket, name, pinLabel+"=")
}

func label(ctx context.Context, ctr, socket, name, set string) error {
	if name == "" || strings.HasPrefix(name, "-") {
		return fmt.Errorf("%q is not an image name", name)
	}
	if _, err := run(ctx, ctr, "--address", socket, "--namespace", namespace, "images", "label", name, set); err != nil {
		return failed(ctx, err, "PinFailed", logRemedy+", then run `refit retry`", "cannot label image %s", name)
	}
	return nil
}

// waitPinned waits until the runtime reports the image as pinned: it reads labels by events.
func (c *Client) waitPinned(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, pinTimeout)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		image, err := c.Image(ctx, name)
		if err == nil && image.Present && image.Pinned {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			if err != nil {
				return err
			}
			return fmt.Errorf("%w: image %s has the label, but is not pinned", ErrCannotPin, name)
		}
	}
}

// ignoresPins reports whether a runtime is known to ignore the label, so that there is nothing to
// wait for.
func ignoresPins(v Version) bool {
	parts := strings.SplitN(strings.TrimPrefix(v.Version, "v"), ".", 3)
	if v.Runtime != "containerd" || len(parts) < 2 {
		return false
	}
	major, err1 := strconv.Atoi(parts[0])
	minor, err2 := strconv.Atoi(parts[1])
	return err1 == nil && err2 == nil && (major < 1 || major == 1 && minor < 7)
}

// run runs containerd's own binaries with a fixed environment: the agent's could name another
// socket or namespace.
func run(ctx context.Context, path string, args ...string) (stdout []byte, err error) {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LC_ALL=C"}
	cmd.WaitDelay = 5 * time.Second
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	if err := cmd.Run(); err != nil {
		text := strings.ToValidUTF8(strings.TrimSpace(log.String()), "")
		return nil, &failedRun{err: err, log: text[max(0, len(text)-maxTail):]}
	}
	return out.Bytes(), nil
}

// failedRun is the error of a process, with the end of its output.
type failedRun struct {
	err error
	log string
}

func (f *failedRun) Error() string {
	if f.log == "" {
		return f.err.Error()
	}
	return fmt.Sprintf("%v: %s", f.err, f.log[strings.LastIndexByte(f.log, '\n')+1:])
}

func (f *failedRun) Unwrap() error { return f.err }

func failed(ctx context.Context, err error, reason, remedy, format string, args ...any) error {
	message := fmt.Sprintf(format, args...)
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", message, ctx.Err())
	}
	log := ""
	if ran, ok := errors.AsType[*failedRun](err); ok {
		log = ran.log
	}
	f := node.ManualIntervention(reason, err, remedy, "%s", message)
	switch {
	case strings.Contains(log, "no space left on device"):
		f.Reason, f.Remedy = "DiskFull", "Free disk space on the host, then run `refit retry`"
	case strings.Contains(log, "connection refused"), strings.Contains(log, "containerd.sock: connect"), strings.Contains(log, "Unavailable"):
		f = node.Transient("RuntimeUnreachable", err, logRemedy, "%s: containerd is unreachable", message)
	}
	f.LogTail = log
	return f
}
