package builder

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/refit-dev/refit/test/testbed/versions"
)

// askModule is the module in which questions are compiled, so they import their
// own packages as "refit.testbed/ask/<folder>".
const askModule = "ask"

// Ask compiles questions against the source of a Kubernetes release, with the
// dependencies and flags of that release's own commands, and returns what each
// wrote to its standard output, by the name of its folder. A question is a main
// package in a folder of its own; it is run with the directory of the release's
// source as its only argument.
func (b *Builder) Ask(ctx context.Context, kubernetesVersion string, questions fs.FS) (map[string]string, error) {
	release, err := versions.Lookup(kubernetesVersion)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "refit-ask-")
	if err != nil {
		return nil, fmt.Errorf("making a directory for the questions: %w", err)
	}
	defer os.RemoveAll(dir)
	shop, err := b.openAskWorkshop(release)
	if err != nil {
		return nil, err
	}
	defer shop.log.Close()
	answers, err := ask(ctx, shop, kubernetes("", release), questions, dir)
	if err != nil && ctx.Err() == nil {
		err = shop.explain(fmt.Errorf("asking Kubernetes %s: %w", release.Kubernetes, err))
	}
	return answers, err
}

// openAskWorkshop begins the log. Nothing else of the cache is written, so the
// build lock is not needed; Go's own caches are safe to share.
func (b *Builder) openAskWorkshop(release versions.Release) (*workshop, error) {
	logs := filepath.Join(b.cache.dir, "logs")
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return nil, fmt.Errorf("making the log directory: %w", err)
	}
	log, err := os.Create(filepath.Join(logs, "ask-"+release.Kubernetes+".log"))
	if err != nil {
		return nil, fmt.Errorf("opening the log: %w", err)
	}
	return &workshop{cache: b.cache, apt: b.apt, log: log}, nil
}

func ask(ctx context.Context, shop *workshop, program goProgram, questions fs.FS, dir string) (map[string]string, error) {
	module, bin := filepath.Join(dir, "module"), filepath.Join(dir, "bin")
	if err := os.CopyFS(module, questions); err != nil {
		return nil, fmt.Errorf("copying the questions: %w", err)
	}
	if err := os.Mkdir(bin, 0o755); err != nil {
		return nil, fmt.Errorf("making directory: %w", err)
	}
	if err := writeModule(ctx, shop, module, askModule, program.staging, program.modules); err != nil {
		return nil, err
	}
	if err := program.compile(ctx, shop, module, bin, "./..."); err != nil {
		return nil, err
	}
	source, err := downloadModule(ctx, shop, program.modules[0])
	if err != nil {
		return nil, err
	}
	commands, err := os.ReadDir(bin)
	if err != nil {
		return nil, fmt.Errorf("listing the questions: %w", err)
	}
	answers := map[string]string{}
	for _, entry := range commands {
		answer, err := shop.output(ctx, command{argv: []string{filepath.Join(bin, entry.Name()), source}, dir: dir})
		if err != nil {
			return nil, err
		}
		answers[entry.Name()] = answer
	}
	return answers, nil
}
