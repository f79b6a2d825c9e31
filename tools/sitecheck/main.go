package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
)

func main() {
	dir := flag.String("site", "bin/site", "the `directory` of the built site")
	base := flag.String("base", "/", "the `path` at which the site is served")
	repository := flag.String("repository", "https://github.com/refit-dev/refit", "the `address` of the repository, whose files pages link to")
	root := flag.String("root", ".", "the `directory` of the checkout")
	flag.Parse()
	site, err := read(os.DirFS(*dir), *base)
	if err != nil {
		fmt.Fprintln(os.Stderr, "sitecheck:", err)
		os.Exit(1)
	}
	site.repository, site.checkout = strings.TrimSuffix(*repository, "/"), os.DirFS(*root)
	problems := site.check()
	for _, problem := range problems {
		fmt.Fprintln(os.Stderr, problem)
	}
	fmt.Printf("%d pages, %d links, %d broken; %d files, %.1f MiB\n", len(site.pages), site.links(), len(problems), site.files, float64(site.bytes)/(1<<20))
	if len(problems) > 0 || len(site.pages) == 0 {
		os.Exit(1)
	}
}
