package main

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/kubefacts"
	"github.com/refit-dev/refit/test/testbed/builder"
	"github.com/refit-dev/refit/test/testbed/progress"
	"github.com/refit-dev/refit/test/testbed/versions"
)

//go:embed _queries
var embedded embed.FS

// usually is the usual duration for a release that the testbed has already built.
const usually = time.Minute

var errStale = errors.New("the data is not up to date: run make kube-facts")

func main() {
	kubernetes := flag.String("kubernetes", strings.Join(versions.Kubernetes(), ","), "`releases` to query")
	dir := flag.String("dir", "internal/upgrade/kubefacts/data", "`directory` of the data")
	verify := flag.Bool("verify", false, "compare with the existing data instead of writing it")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, strings.Split(*kubernetes, ","), *dir, *verify)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "kubefacts:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, releases []string, dir string, verify bool) error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return fmt.Errorf("finding the cache: %w", err)
	}
	queries, err := fs.Sub(embedded, "_queries")
	if err != nil {
		return fmt.Errorf("reading the queries: %w", err)
	}
	report := progress.New(os.Stderr)
	querier := builder.New(filepath.Join(cache, "refit-testbed"), report)
	for _, release := range releases {
		err := report.Step("query Kubernetes "+release, usually, func() error {
			results, err := querier.Query(ctx, release, queries)
			if err != nil {
				return err
			}
			facts, err := assemble(release, results)
			if err != nil {
				return err
			}
			return keep(dir, facts, verify)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// keep writes the facts of a release, or compares them with the existing ones.
func keep(dir string, facts *kubefacts.Facts, verify bool) error {
	text, err := render(facts)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, "v"+facts.Minor()+".json")
	if !verify {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return fmt.Errorf("writing the facts: %w", err)
		}
		return nil
	}
	existing, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading the facts: %w", err)
	}
	if difference := firstDifference(string(existing), string(text)); difference != "" {
		return fmt.Errorf("%s: %w\n%s", path, errStale, difference)
	}
	return nil
}
