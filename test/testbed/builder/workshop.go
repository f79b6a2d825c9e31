package builder

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// tailLines is the number of lines of tool output in an error.
const tailLines = 20

// A workshop is the environment of a build: the entries that the recipe needs, and tools whose
// output goes to the log.
type workshop struct {
	cache cache
	apt   aptRepository
	log   *os.File
}

// openWorkshop opens the log of an entry.
func (b *Builder) openWorkshop(r recipe) (*workshop, error) {
	logs := filepath.Join(b.cache.dir, "logs")
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return nil, fmt.Errorf("creating the log directory: %w", err)
	}
	name := fmt.Sprintf("%s-%s-%s.log", r.component(), r.version(), keyOf(r))
	log, err := os.Create(filepath.Join(logs, name))
	if err != nil {
		return nil, fmt.Errorf("opening the log: %w", err)
	}
	return &workshop{cache: b.cache, apt: b.apt, log: log}, nil
}

// of returns the directory of an entry that the recipe needs.
func (w *workshop) of(r recipe) string { return w.cache.entry(r) }

// run runs a tool; its output goes to the log.
func (w *workshop) run(ctx context.Context, c command) error {
	return c.run(ctx, w.log, w.log, w.log)
}

// output runs a tool and returns its standard output.
func (w *workshop) output(ctx context.Context, c command) (string, error) {
	var out strings.Builder
	err := c.run(ctx, io.MultiWriter(&out, w.log), w.log, w.log)
	return out.String(), err
}

// explain adds the last output of the tools and the path of the log to an error.
func (w *workshop) explain(err error) error {
	text, readErr := os.ReadFile(w.log.Name())
	if readErr != nil || len(text) == 0 {
		return err
	}
	return fmt.Errorf("%w\n%s\nfull log: %s", err, tail(string(text), tailLines), w.log.Name())
}

// tail returns the last n lines of text, indented.
func tail(text string, n int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return "  | " + strings.Join(lines, "\n  | ")
}
