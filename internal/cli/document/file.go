package document

import "path/filepath"

// Stdin is the path that means standard input.
const Stdin = "-"

// NameOf is the name of a file in messages.
func NameOf(path string) string {
	if path == Stdin {
		return "stdin"
	}
	return path
}

// BaseOf is the name of a file in messages, without its directory.
func BaseOf(path string) string { return filepath.Base(NameOf(path)) }
