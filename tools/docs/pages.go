package main

import (
	"fmt"
	"path/filepath"
)

// pagesOf returns the Markdown files of the repository, relative to its root.
func pagesOf(root string) ([]string, error) {
	var pages []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "examples/*.md", "examples/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return nil, fmt.Errorf("cannot list pages: %w", err)
		}
		for _, file := range found {
			page, err := filepath.Rel(root, file)
			if err != nil {
				return nil, fmt.Errorf("cannot list pages: %w", err)
			}
			pages = append(pages, page)
		}
	}
	return pages, nil
}
