package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	root := flag.String("root", ".", "the `directory` of the checkout")
	verify := flag.Bool("verify", false, "compare the files and write nothing")
	flag.Parse()
	if err := run(*root, *verify); err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		os.Exit(1)
	}
}

func run(root string, verify bool) error {
	files, err := generate(root)
	if err != nil {
		return err
	}
	put := os.WriteFile
	if verify {
		put = compare
	}
	var failed []error
	for name, content := range files {
		failed = append(failed, put(filepath.Join(root, name), content, 0o644))
	}
	return errors.Join(failed...)
}

// generate returns the content that each generated page and picture should have.
func generate(root string) (map[string][]byte, error) {
	pages, err := pagesOf(root)
	if err != nil {
		return nil, err
	}
	frame, err := readGolden(root, pictureOf)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{picture: draw(frame)}
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			return nil, fmt.Errorf("cannot read a page: %w", err)
		}
		filled, err := fill(string(text), func(name string) (string, error) { return readGolden(root, name) })
		if err != nil {
			return nil, fmt.Errorf("%s: %w", page, err)
		}
		files[page] = []byte(filled)
	}
	return files, nil
}

func readGolden(root, name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		return "", fmt.Errorf("cannot read a golden file: %w", err)
	}
	return string(text), nil
}

func compare(name string, want []byte, _ os.FileMode) error {
	got, err := os.ReadFile(name)
	if err != nil || !bytes.Equal(got, want) {
		return errors.Join(fmt.Errorf("%s is out of date: run `make docs`", name), err)
	}
	return nil
}
