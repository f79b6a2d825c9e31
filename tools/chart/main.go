// Command chart generates the templates of the Helm chart from the manifests of `refit install`, so
// that both install the same objects:
//
//  1. render builds the objects of `refit install` with a marker in place of each value;
//  2. template replaces the markers by expressions of Helm, and makes optional what
//     `refit install --standalone` omits.
//
// It also writes the dashboard of Grafana, copies the alerting rules of docs/alerts, and writes the
// table of values in the README from values.yaml and its schema.
//
// Chart.yaml, the values and their schema, the helpers and the objects that only the chart has are
// written by hand.
package main

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

func main() {
	to := flag.String("to", "charts/refit", "the directory of the chart")
	flag.Parse()
	if err := run(*to); err != nil {
		fmt.Fprintln(os.Stderr, "chart: "+err.Error())
		os.Exit(1)
	}
}

func run(to string) error {
	files, err := generate(os.DirFS("."))
	if err != nil {
		return err
	}
	for name, text := range files {
		path := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(path), fs.FileMode(0o755)); err != nil {
			return fmt.Errorf("cannot write the chart: %w", err)
		}
		if err := os.WriteFile(path, []byte(text), fs.FileMode(0o644)); err != nil {
			return fmt.Errorf("cannot write the chart: %w", err)
		}
	}
	return nil
}

// generate returns the generated files of the chart of a repository by their path in it.
func generate(repository fs.FS) (map[string]string, error) {
	objects, optional, err := render()
	if err != nil {
		return nil, err
	}
	made, err := templates(objects, optional)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for name, text := range made {
		files["templates/"+name] = text
	}
	board, err := dashboard()
	if err != nil {
		return nil, err
	}
	rules, err := fs.ReadFile(repository, "docs/alerts/refit.yaml")
	if err != nil {
		return nil, fmt.Errorf("cannot read the alerting rules: %w", err)
	}
	files["files/dashboard.json"], files["files/alerts.yaml"] = string(board), string(rules)
	files["README.md"], err = readme(repository)
	return files, err
}
