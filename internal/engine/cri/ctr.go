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

// ErrCannotPin says that the runtime does not honor pinned images (containerd before 1.7), so that the kubelet may remove one. The caller keeps the archive.
// The label is there nevertheless, and a newer containerd will see it.
var ErrCannotPin = errors.New("this container runtime cannot pin images")

const (
	namespace = "k8s.io"
	pinLabel  = "io.cri-containerd.pinned"
	// pinWait is how long containerd may take to see a label.
	pinWait = 10 * time.Second
	// maxTail bounds what of an output is kept for a person.
	maxTail = 4 << 10
)

// Import brings an image archive into containerd, for this host's platform, under the names that are in it. Importing it again changes nothing.
func Import(ctx context.Context, ctr, socket, archive string) error {
	path, err := filepath.Abs(archive) // ctr would read another as an option, or - as its input.
	if err != nil {
		return fmt.Errorf("finding %s: %w", archive, err)
	}
	if _, err := run(ctx, ctr, "--address", socket, "--namespace", namespace, "images", "import", path); err != nil {
		return failed(ctx, err, "ImportFailed", "see whether the archive is whole and the disk has room, then say refit retry",
			"importing the image archive %s", path)
	}
	return nil
}

// Pin keeps an image from the kubelet's garbage collection, and looks whether it does.
func Pin(ctx context.Context, ctr, socket, name string) error {
	if err := label(ctx, ctr, socket, name, pinLabel+"=pinned"); err != nil {
		return err
	}
	client, err := Dial(socket)
	if err != nil {
		return err
	}
	defer client.Close()
	if v, err := client.Version(ctx); err == nil && knowsNoPins(v) {
		return ErrCannotPin
	}
	return client.waitPinned(ctx, name)
}

// Unpin gives an image back to the garbage collection. One that is not there is not pinned.
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
		return fmt.Errorf("%q is no name of an image", name)
	}
	if _, err := run(ctx, ctr, "--address", socket, "--namespace", namespace, "images", "label", name, set); err != nil {
		return failed(ctx, err, "PinFailed", "see journalctl -u containerd on the host, then say refit retry", "labeling image %s", name)
	}
	return nil
}

// waitPinned waits until the runtime says what the label says: it learns of labels by events.
func (c *Client) waitPinned(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, pinWait)
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
			return fmt.Errorf("%w: image %s has the label and does not count as pinned", ErrCannotPin, name)
		}
	}
}

// knowsNoPins says that a runtime is known not to honor the label, so that it need not be waited for.
func knowsNoPins(v Version) bool {
	parts := strings.SplitN(strings.TrimPrefix(v.Version, "v"), ".", 3)
	if v.Runtime != "containerd" || len(parts) < 2 {
		return false
	}
	major, err1 := strconv.Atoi(parts[0])
	minor, err2 := strconv.Atoi(parts[1])
	return err1 == nil && err2 == nil && (major < 1 || major == 1 && minor < 7)
}

// run executes containerd's own tools, with a fixed environment: theirs could name another socket or namespace.
func run(ctx context.Context, program string, args ...string) (stdout []byte, err error) {
	cmd := exec.CommandContext(ctx, program, args...)
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

// failedRun is a program that did not succeed, with the end of what it said.
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
	doing := fmt.Sprintf(format, args...)
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", doing, ctx.Err())
	}
	log := ""
	if ran, ok := errors.AsType[*failedRun](err); ok {
		log = ran.log
	}
	f := node.ManualIntervention(reason, err, remedy, "%s failed", doing)
	switch {
	case strings.Contains(log, "no space left on device"):
		f.Reason, f.Remedy = "DiskFull", "make room on the host's disk, then say refit retry"
	case strings.Contains(log, "connection refused"), strings.Contains(log, "containerd.sock: connect"), strings.Contains(log, "Unavailable"):
		f = node.Transient("RuntimeNotAnswering", err, "see journalctl -u containerd on the host", "%s: containerd does not answer", doing)
	}
	f.LogTail = log
	return f
}
