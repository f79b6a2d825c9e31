package main

import (
	"context"
	"io"
	"os"
	"time"

	"golang.org/x/term"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/controller"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/preflight"
)

// app is what commands touch of the world. Tests put other things in its place.
type app struct {
	name     string // as a person types it: refit, or kubectl refit
	in       io.Reader
	out, err io.Writer
	getenv   func(string) string
	now      func() time.Time
	// observe looks at a cluster, and tells what it is looking at.
	observe func(ctx context.Context, config *rest.Config, doing func(what string)) (*cluster.Snapshot, error)
	// preflight tells what stands in the way.
	preflight func(preflight.Input) preflight.Report
	// installer is a cluster that Refit is brought into, or taken out of.
	installer func(config *rest.Config) (installer, error)
	// objects are those of a cluster.
	objects func(config *rest.Config) (client.WithWatch, error)
	// controllers carries operations out, in this process.
	controllers func(context.Context, controller.Options) error
	// changing says whether the command has begun to change something.
	changing bool
}

func newApp(program string) *app {
	return &app{
		name: nameOf(program), in: os.Stdin, out: os.Stdout, err: os.Stderr,
		getenv: os.Getenv, now: time.Now, observe: observeCluster,
		preflight: preflight.Run, installer: newInstaller, objects: newClient, controllers: controller.Run,
	}
}

// terminal returns the columns of the terminal that a writer leads to, and whether it is one. One that calls itself dumb cannot move its
// cursor or show colors, so it counts as a file.
func (a *app) terminal(w io.Writer) (columns int, is bool) {
	file, ok := w.(*os.File)
	if !ok || a.getenv("TERM") == "dumb" || !term.IsTerminal(int(file.Fd())) {
		return 0, false
	}
	columns, _ = sizeOf(file)
	return columns, true
}

// sizeOf is how large a terminal is. A serial console does not know.
func sizeOf(terminal *os.File) (columns, rows int) {
	columns, rows, err := term.GetSize(int(terminal.Fd()))
	if err != nil || columns <= 0 || rows <= 0 {
		return text.DefaultWidth, defaultRows
	}
	return columns, rows
}

// defaultRows are those of a terminal that does not know its size.
const defaultRows = 24

// colors says whether a writer gets colors: a terminal does, unless its owner wants none (no-color.org).
func (a *app) colors(w io.Writer) bool {
	_, is := a.terminal(w)
	return is && a.getenv("NO_COLOR") == ""
}
