package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	repository := flag.String("repository", "", "`repository` of the images, such as ghcr.io/refit-dev")
	tag := flag.String("tag", "", "`tag` of the images")
	to := flag.String("to", "bin/images", "`directory` of the archives")
	flag.Parse()
	if err := run(*repository, *tag, *to, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "images:", err)
		os.Exit(1)
	}
}

// run builds an image of each NAME=BINARY[,BINARY...].
func run(repository, tag, to string, pairs []string) error {
	if repository == "" || tag == "" || len(pairs) == 0 {
		return fmt.Errorf("specify -repository, -tag and at least one NAME=BINARY")
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return fmt.Errorf("creating the directory of the archives: %w", err)
	}
	for _, pair := range pairs {
		name, list, ok := strings.Cut(pair, "=")
		binaries := strings.Split(list, ",")
		if !ok || name == "" || slices.Contains(binaries, "") {
			return fmt.Errorf("%q is not NAME=BINARY[,BINARY...]", pair)
		}
		archive := filepath.Join(to, name+".tar")
		if err := write(archive, repository+"/"+name+":"+tag, name, binaries); err != nil {
			return fmt.Errorf("image %s: %w", name, err)
		}
		fmt.Println(archive, repository+"/"+name+":"+tag)
	}
	return nil
}
