package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	root := flag.String("root", ".", "the `directory` of the checkout")
	to := flag.String("to", "docs/troubleshooting.md", "the `file` to write")
	flag.Parse()
	if err := run(*root, *to); err != nil {
		fmt.Fprintln(os.Stderr, "reasons:", err)
		os.Exit(1)
	}
}

func run(root, to string) error {
	page, err := generate(root)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, []byte(page), 0o644); err != nil {
		return fmt.Errorf("cannot write the page: %w", err)
	}
	return nil
}

func generate(root string) (string, error) {
	s, err := readSource(root, "api", "internal", "cmd")
	if err != nil {
		return "", err
	}
	c := content{checks: s.checks(), problems: s.problems(), waits: s.waits(), refusals: s.refusals(), failures: s.failures()}
	if err := c.complete(); err != nil {
		return "", err
	}
	return c.page(), nil
}
