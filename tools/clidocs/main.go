package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// binaries are the commands of the reference, in its order.
var binaries = []string{"refit", "refit-agent"}

func main() {
	to := flag.String("to", "docs/reference/cli.md", "`file` to write")
	flag.Parse()
	if err := run(context.Background(), *to); err != nil {
		fmt.Fprintln(os.Stderr, "clidocs:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, to string) error {
	bin, err := os.MkdirTemp("", "clidocs")
	if err != nil {
		return fmt.Errorf("cannot create a directory: %w", err)
	}
	defer os.RemoveAll(bin)
	var roots []command
	for _, name := range binaries {
		file := filepath.Join(bin, name)
		if output, err := exec.CommandContext(ctx, "go", "build", "-o", file, "./cmd/"+name).CombinedOutput(); err != nil {
			return fmt.Errorf("cannot build %s: %w\n%s", name, err, output)
		}
		root, err := read(ctx, execute(file), name)
		if err != nil {
			return err
		}
		roots = append(roots, root)
	}
	if err := os.WriteFile(to, []byte(render(roots)), 0o644); err != nil {
		return fmt.Errorf("cannot write the reference: %w", err)
	}
	return nil
}

// execute returns a function that runs a binary without the user's configuration, so that neither
// defaults nor completions depend on it.
func execute(file string) runner {
	return func(ctx context.Context, args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, file, args...)
		cmd.Env = []string{"HOME=/nonexistent", "KUBECONFIG=/nonexistent", "NO_COLOR=1"}
		output, err := cmd.Output()
		if err != nil {
			return "", fmt.Errorf("%s %q: %w", filepath.Base(file), args, err)
		}
		return string(output), nil
	}
}
