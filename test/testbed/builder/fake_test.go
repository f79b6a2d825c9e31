package builder

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/refit-dev/refit/test/testbed/progress"
)

// fake is a recipe that runs a function of the test.
type fake struct {
	name, release string
	texts         []string
	from          []recipe
	work          func(ctx context.Context, shop *workshop, dir string) error
}

func (f fake) component() string    { return f.name }
func (f fake) version() string      { return f.release }
func (f fake) inputs() []string     { return f.texts }
func (f fake) needs() []recipe      { return f.from }
func (fake) usually() time.Duration { return time.Second }

func (f fake) build(ctx context.Context, shop *workshop, dir string) error {
	if f.work != nil {
		return f.work(ctx, shop, dir)
	}
	return os.WriteFile(filepath.Join(dir, "made"), []byte(f.release), 0o644)
}

// notes is an output that tests may read concurrently.
type notes struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (n *notes) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.Write(p)
}

func (n *notes) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.String()
}

func testBuilder(t *testing.T) (*Builder, *notes) {
	t.Helper()
	out := &notes{}
	return New(t.TempDir(), progress.New(out)), out
}
