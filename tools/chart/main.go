// Command chart generates the templates of the Helm chart from the manifests of `refit install`, so
// that both install the same objects:
//
//  1. render builds the objects of `refit install` with a marker in place of each value;
//  2. template replaces the markers by expressions of Helm, and makes optional what
//     `refit install --standalone` omits.
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
	to := flag.String("to", "charts/refit/templates", "the directory of the templates")
	flag.Parse()
	if err := run(*to); err != nil {
		fmt.Fprintln(os.Stderr, "chart: "+err.Error())
		os.Exit(1)
	}
}

func run(to string) error {
	objects, optional, err := render()
	if err != nil {
		return err
	}
	files, err := templates(objects, optional)
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(to, name), []byte(text), fs.FileMode(0o644)); err != nil {
			return fmt.Errorf("cannot write a template: %w", err)
		}
	}
	return nil
}
