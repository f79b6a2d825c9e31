package main

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"golang.org/x/net/html"
)

// site is a built site.
type site struct {
	base  string
	tree  fs.FS
	pages map[string]*page // by file
	css   map[string]string
	files int
	bytes int64

	repository string // the address of the repository
	checkout   fs.FS  // its files
}

// page is an HTML file of the site.
type page struct {
	anchors map[string]bool
	links   []link
}

// link is an attribute of a page that names an address.
type link struct {
	href  string
	loads bool // the browser loads it without a click
}

// read reads the HTML and CSS files of a site.
func read(tree fs.FS, base string) (*site, error) {
	s := &site{base: base, tree: tree, pages: map[string]*page{}, css: map[string]string{}}
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		s.files, s.bytes = s.files+1, s.bytes+info.Size()
		switch path.Ext(name) {
		case ".html":
			s.pages[name], err = readPage(tree, name)
		case ".css":
			var text []byte
			text, err = fs.ReadFile(tree, name)
			s.css[name] = string(text)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read the site: %w", err)
	}
	return s, nil
}

func readPage(tree fs.FS, name string) (*page, error) {
	file, err := tree.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	root, err := html.Parse(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p := &page{anchors: map[string]bool{"": true, "top": true}}
	for node := range root.Descendants() {
		if node.Type == html.ElementNode {
			p.add(node)
		}
	}
	return p, nil
}

// add records the anchor and the links of an element.
func (p *page) add(node *html.Node) {
	for _, a := range node.Attr {
		switch a.Key {
		case "id":
			p.anchors[a.Val] = true
		case "href":
			p.links = append(p.links, link{href: a.Val, loads: node.Data == "link"})
		case "src":
			p.links = append(p.links, link{href: a.Val, loads: true})
		case "srcset":
			for part := range strings.SplitSeq(a.Val, ",") {
				href, _, _ := strings.Cut(strings.TrimSpace(part), " ")
				p.links = append(p.links, link{href: href, loads: true})
			}
		case "style":
			for _, match := range cssURL.FindAllStringSubmatch(a.Val, -1) {
				p.links = append(p.links, link{href: match[1], loads: true})
			}
		}
	}
}

// cssURL matches what a style sheet loads.
var cssURL = regexp.MustCompile(`(?:url\(\s*["']?|@import\s+["'])([^"')\s]+)`)
