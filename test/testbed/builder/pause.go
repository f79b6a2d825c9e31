package builder

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

//go:embed assets/pause.c
var pauseSource string

var pauseFlags = []string{"-Os", "-Wall", "-Wextra", "-static", "-s"}

// pause compiles the binary of the sandbox image with the machine's C compiler. The version only
// names the image: the source is the same for all.
type pause struct{ tag string }

func (p pause) component() string    { return "pause" }
func (p pause) version() string      { return p.tag }
func (pause) inputs() []string       { return append([]string{pauseSource}, pauseFlags...) }
func (pause) needs() []recipe        { return nil }
func (pause) usually() time.Duration { return time.Second }

func (pause) build(ctx context.Context, shop *workshop, dir string) error {
	source, bin := filepath.Join(dir, "pause.c"), filepath.Join(dir, "bin")
	if err := os.WriteFile(source, []byte(pauseSource), 0o644); err != nil {
		return fmt.Errorf("writing pause.c: %w", err)
	}
	if err := os.Mkdir(bin, 0o755); err != nil {
		return fmt.Errorf("creating directory: %w", err)
	}
	argv := append([]string{"gcc"}, pauseFlags...)
	return shop.run(ctx, command{argv: append(argv, "-o", filepath.Join(bin, "pause"), source)})
}
