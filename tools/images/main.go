package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	repository := flag.String("repository", "", "the images' `repository`, such as ghcr.io/refit-dev")
	tag := flag.String("tag", "", "the images' `tag`")
	to := flag.String("to", "bin/images", "the `directory` of the archives")
	flag.Parse()
	if err := run(*repository, *tag, *to, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "images:", err)
		os.Exit(1)
	}
}

// run makes an image of each NAME=PROGRAM.
func run(repository, tag, to string, pairs []string) error {
	if repository == "" || tag == "" || len(pairs) == 0 {
		return fmt.Errorf("give -repository, -tag and at least one NAME=PROGRAM")
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return fmt.Errorf("making the directory of the archives: %w", err)
	}
	for _, pair := range pairs {
		name, program, ok := strings.Cut(pair, "=")
		if !ok || name == "" || program == "" {
			return fmt.Errorf("%q is not NAME=PROGRAM", pair)
		}
		archive := filepath.Join(to, name+".tar")
		if err := write(archive, repository+"/"+name+":"+tag, name, program); err != nil {
			return fmt.Errorf("image %s: %w", name, err)
		}
		fmt.Println(archive, repository+"/"+name+":"+tag)
	}
	return nil
}
