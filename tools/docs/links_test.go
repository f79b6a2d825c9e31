package main

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	code    = regexp.MustCompile("(?s)```.*?\n```|`[^`\n]*`")
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	dropped = regexp.MustCompile(`[^\p{L}\p{N}\- _]`)
)

func TestLinksBetweenPagesResolve(t *testing.T) {
	pages, err := pagesOf(root)
	if err != nil || len(pages) < 10 {
		t.Fatalf("found %d pages: %v", len(pages), err)
	}
	for _, page := range pages {
		for _, match := range link.FindAllStringSubmatch(code.ReplaceAllString(read(t, page), ""), -1) {
			target, err := url.Parse(match[1])
			if err != nil {
				t.Errorf("%s: %v", page, err)
				continue
			}
			if target.Scheme == "" && !resolves(t, page, target) {
				t.Errorf("%s: the link %s leads nowhere", page, match[1])
			}
		}
	}
}

// Every page can be reached from README.md.
func TestReadmeLeadsToEveryPage(t *testing.T) {
	reached, next := map[string]bool{}, []string{"README.md"}
	for len(next) > 0 {
		page := next[0]
		next = next[1:]
		if reached[page] {
			continue
		}
		reached[page] = true
		for _, match := range link.FindAllStringSubmatch(read(t, page), -1) {
			file, _, _ := strings.Cut(match[1], "#")
			if strings.HasSuffix(file, ".md") && !strings.Contains(file, "://") {
				next = append(next, filepath.Join(filepath.Dir(page), file))
			}
		}
	}
	pages, err := pagesOf(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		if !reached[page] {
			t.Errorf("no link leads from README.md to %s", page)
		}
	}
}

func resolves(t *testing.T, page string, target *url.URL) bool {
	t.Helper()
	file := page
	if target.Path != "" {
		file = filepath.Join(filepath.Dir(page), target.Path)
	}
	if _, err := os.Stat(filepath.Join(root, file)); err != nil {
		return false
	}
	if target.Fragment == "" || filepath.Ext(file) != ".md" {
		return true
	}
	for _, match := range heading.FindAllStringSubmatch(read(t, file), -1) {
		if slug(match[1]) == target.Fragment {
			return true
		}
	}
	return false
}

// slug returns the anchor that GitHub gives a heading.
func slug(title string) string {
	return strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(title), ""), " ", "-")
}

func read(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
