package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	crds := flag.String("crds", "config/crd", "`directory` of the CRDs")
	source := flag.String("package", "api/v1alpha1", "`directory` of the Go package of the API")
	to := flag.String("to", "docs/reference/api.md", "`file` to write")
	flag.Parse()
	if err := run(*crds, *source, *to); err != nil {
		fmt.Fprintln(os.Stderr, "apidocs:", err)
		os.Exit(1)
	}
}

func run(crds, source, to string) error {
	kinds, err := readKinds(crds)
	if err != nil {
		return err
	}
	constants, err := readConstants(source)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, []byte(render(kinds, constants)), 0o644); err != nil {
		return fmt.Errorf("writing the reference: %w", err)
	}
	return nil
}
