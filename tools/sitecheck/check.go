package main

import (
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
)

// check returns the problems of all pages and style sheets, in order.
func (s *site) check() []string {
	var problems []string
	report := func(file, href string, err error) {
		if err != nil {
			problems = append(problems, fmt.Sprintf("%s: %s: %v", file, href, err))
		}
	}
	for _, file := range slices.Sorted(maps.Keys(s.pages)) {
		for _, l := range s.pages[file].links {
			report(file, l.href, s.resolve(file, l))
		}
	}
	for _, file := range slices.Sorted(maps.Keys(s.css)) {
		for _, match := range cssURL.FindAllStringSubmatch(s.css[file], -1) {
			report(file, match[1], s.resolve(file, link{href: match[1], loads: true}))
		}
	}
	return problems
}

func (s *site) links() int {
	count := 0
	for _, p := range s.pages {
		count += len(p.links)
	}
	return count
}

// resolve returns an error if a link of a file leads nowhere, or loads something from another host.
func (s *site) resolve(file string, l link) error {
	target, err := url.Parse(l.href)
	switch {
	case err != nil:
		return err
	case target.Scheme == "data":
		return nil
	case target.Scheme != "" || target.Host != "":
		if l.loads {
			return fmt.Errorf("the page loads it from another host")
		}
		return s.resolveFile(target)
	}
	to := file
	switch {
	case strings.HasPrefix(target.Path, "/"):
		if !strings.HasPrefix(target.Path+"/", s.base) {
			return fmt.Errorf("it is outside the site, which is at %s", s.base)
		}
		to = strings.TrimPrefix(strings.TrimPrefix(target.Path, strings.TrimSuffix(s.base, "/")), "/")
	case target.Path != "":
		to = path.Join(path.Dir(file), target.Path) + trailing(target.Path)
	}
	if to == "" || strings.HasSuffix(to, "/") {
		to += "index.html"
	}
	if _, err := fs.Stat(s.tree, to); err != nil {
		return fmt.Errorf("the site has no %s", to)
	}
	if p := s.pages[to]; p != nil && !p.anchors[target.Fragment] {
		return fmt.Errorf("%s has no anchor %s", to, target.Fragment)
	}
	return nil
}

// resolveFile checks an address of the repository, such as .../blob/main/README.md. Other hosts are
// not checked.
func (s *site) resolveFile(target *url.URL) error {
	rest, found := strings.CutPrefix(target.String(), s.repository+"/")
	if !found {
		return nil
	}
	kind, rest, _ := strings.Cut(rest, "/")
	ref, file, _ := strings.Cut(rest, "/")
	if kind != "blob" && kind != "tree" || ref != "main" {
		return nil // of a tag, or no file
	}
	file, _, _ = strings.Cut(file, "#")
	info, err := fs.Stat(s.checkout, file)
	if err != nil || info.IsDir() != (kind == "tree") {
		return fmt.Errorf("the repository has no %s of this kind", file)
	}
	return nil
}

func trailing(name string) string {
	if strings.HasSuffix(name, "/") {
		return "/"
	}
	return ""
}
