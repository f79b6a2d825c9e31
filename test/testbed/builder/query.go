package builder

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/refit-dev/refit/test/testbed/versions"
)

// queryModule is the module in which queries are compiled, so they import their own packages as
// "refit.testbed/query/<directory>".
const queryModule = "query"

// Query compiles queries against the source of a Kubernetes release, with the dependencies and
// flags of its own commands, and returns their standard output by directory. A query is a main
// package in its own directory; its only argument is the directory of the Kubernetes source.
func (b *Builder) Query(ctx context.Context, kubernetesVersion string, queries fs.FS) (map[string]string, error) {
	release, err := versions.Lookup(kubernetesVersion)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "refit-query-")
	if err != nil {
		return nil, fmt.Errorf("creating a directory for the queries: %w", err)
	}
	defer os.RemoveAll(dir)
	shop, err := b.openQueryWorkshop(release)
	if err != nil {
		return nil, err
	}
	defer shop.log.Close()
	results, err := runQueries(ctx, shop, kubernetes("", release), queries, dir)
	if err != nil && ctx.Err() == nil {
		err = shop.explain(fmt.Errorf("querying Kubernetes %s: %w", release.Kubernetes, err))
	}
	return results, err
}

// openQueryWorkshop opens the log. Nothing else in the cache is written, so the build lock is not
// needed; Go's caches are safe to share.
func (b *Builder) openQueryWorkshop(release versions.Release) (*workshop, error) {
	logs := filepath.Join(b.cache.dir, "logs")
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return nil, fmt.Errorf("creating the log directory: %w", err)
	}
	log, err := os.Create(filepath.Join(logs, "query-"+release.Kubernetes+".log"))
	if err != nil {
		return nil, fmt.Errorf("opening the log: %w", err)
	}
	return &workshop{cache: b.cache, apt: b.apt, log: log}, nil
}

func runQueries(ctx context.Context, shop *workshop, binary goBinaries, queries fs.FS, dir string) (map[string]string, error) {
	module, bin := filepath.Join(dir, "module"), filepath.Join(dir, "bin")
	if err := os.CopyFS(module, queries); err != nil {
		return nil, fmt.Errorf("copying the queries: %w", err)
	}
	if err := os.Mkdir(bin, 0o755); err != nil {
		return nil, fmt.Errorf("creating directory: %w", err)
	}
	if err := writeModule(ctx, shop, module, queryModule, binary.staging, binary.modules); err != nil {
		return nil, err
	}
	if err := binary.compile(ctx, shop, module, bin, "./..."); err != nil {
		return nil, err
	}
	source, err := downloadModule(ctx, shop, binary.modules[0])
	if err != nil {
		return nil, err
	}
	commands, err := os.ReadDir(bin)
	if err != nil {
		return nil, fmt.Errorf("listing the queries: %w", err)
	}
	results := map[string]string{}
	for _, entry := range commands {
		result, err := shop.output(ctx, command{argv: []string{filepath.Join(bin, entry.Name()), source}, dir: dir})
		if err != nil {
			return nil, err
		}
		results[entry.Name()] = result
	}
	return results, nil
}
