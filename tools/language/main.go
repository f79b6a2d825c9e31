package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	root := flag.String("root", ".", "the `directory` of the checkout to count")
	file := flag.String("list", "tools/language/phrases.yaml", "the `file` with phrases, allowed uses and limits")
	vale := flag.String("vale", "", "write the Vale rule to this `file` and count nothing")
	verbose := flag.Bool("v", false, "list each use with its file and line")
	flag.Parse()
	if err := run(os.Stdout, *root, *file, *vale, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "language:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, root, file, vale string, verbose bool) error {
	list, err := readList(file)
	if err != nil {
		return err
	}
	if vale != "" {
		return writeRule(vale, list)
	}
	result, err := count(os.DirFS(root), list)
	if err != nil {
		return err
	}
	if verbose {
		result.writeUses(out)
	}
	return errors.Join(result.writeTable(out), result.check(list))
}
