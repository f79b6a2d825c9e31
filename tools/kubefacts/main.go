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

//go:embed _questions
var embedded embed.FS

// usually is how long one release takes once the testbed has built it; before
// that, it must be compiled.
const usually = time.Minute

var errStale = errors.New("the data is not what the source says: run make kube-facts")

func main() {
	kubernetes := flag.String("kubernetes", strings.Join(versions.Kubernetes(), ","), "releases to ask, of the testbed's table")
	dir := flag.String("dir", "internal/upgrade/kubefacts/data", "where the data is")
	verify := flag.Bool("verify", false, "compare with what is there instead of writing it")
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
		return fmt.Errorf("looking for the cache: %w", err)
	}
	questions, err := fs.Sub(embedded, "_questions")
	if err != nil {
		return fmt.Errorf("reading the questions: %w", err)
	}
	report := progress.New(os.Stderr)
	asker := builder.New(filepath.Join(cache, "refit-testbed"), report)
	for _, release := range releases {
		err := report.Step("ask Kubernetes "+release, usually, func() error {
			answers, err := asker.Ask(ctx, release, questions)
			if err != nil {
				return err
			}
			facts, err := assemble(release, answers)
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

// keep writes the facts of a release, or compares them with what is there.
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
	there, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading the facts: %w", err)
	}
	if difference := firstDifference(string(there), string(text)); difference != "" {
		return fmt.Errorf("%s: %w\n%s", path, errStale, difference)
	}
	return nil
}
