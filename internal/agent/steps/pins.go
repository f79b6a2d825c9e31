package steps

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/refit-dev/refit/internal/engine/cri"
	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/engine/host"
)

// pinnedFile lists the images that a rehearsal has pinned, one per line, in the directory of a hop.
const pinnedFile = "pinned"

// pins are the pins of a container runtime. Tests replace them.
type pins interface {
	Image(ctx context.Context, name string) (cri.Image, error)
	Pin(ctx context.Context, name string) error
	Unpin(ctx context.Context, name string) error
}

// runtimePins are the pins of containerd.
type runtimePins struct {
	*cri.Client

	ctr, socket string
}

func (p runtimePins) Pin(ctx context.Context, name string) error {
	return cri.Pin(ctx, p.ctr, p.socket, name)
}

func (p runtimePins) Unpin(ctx context.Context, name string) error {
	return cri.Unpin(ctx, p.ctr, p.socket, name)
}

// pinFor pins an image until unpin is called for a directory. It is recorded first: a kill in
// between must not leave the pin. An image that is pinned already stays so afterwards.
func pinFor(ctx context.Context, on pins, dir, name string) error {
	have, err := on.Image(ctx, name)
	if err != nil || !have.Present || have.Pinned {
		return err
	}
	names, err := pinnedIn(dir)
	if err != nil {
		return err
	}
	if !slices.Contains(names, name) {
		text := strings.Join(append(names, name), "\n") + "\n"
		if err := durable.WriteFile(filepath.Join(dir, pinnedFile), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return on.Pin(ctx, name)
}

// unpin unpins what pinFor has pinned for a directory, except the images that others keep.
func unpin(ctx context.Context, on pins, dir string, keep map[string]bool) error {
	names, err := pinnedIn(dir)
	if err != nil || len(names) == 0 {
		return err
	}
	for _, name := range names {
		if keep[name] {
			continue
		}
		if err := on.Unpin(ctx, name); err != nil {
			return err
		}
	}
	return durable.Remove(filepath.Join(dir, pinnedFile))
}

func pinnedIn(dir string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(dir, pinnedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return strings.Fields(string(text)), err
}

// UnpinHops unpins the images that RenderHop has pinned in the directories below a directory,
// except those that upgrades keep.
func UnpinHops(ctx context.Context, socket, dir string, keep map[string]bool) error {
	files, err := filepath.Glob(filepath.Join(dir, "*", pinnedFile))
	if err != nil || len(files) == 0 {
		return err
	}
	ctr, err := host.LookPath("ctr")
	if err != nil {
		return err
	}
	client, err := cri.Dial(socket)
	if err != nil {
		return err
	}
	defer client.Close()
	var errs []error
	for _, file := range files {
		errs = append(errs, unpin(ctx, runtimePins{client, ctr, socket}, filepath.Dir(file), keep))
	}
	return errors.Join(errs...)
}
