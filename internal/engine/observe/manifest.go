package observe

import (
	"iter"
	"strings"
)

// documents returns the YAML documents of a manifest.
func documents(manifest string) iter.Seq[string] {
	return func(yield func(string) bool) {
		begin, place := 0, 0
		for line := range strings.Lines(manifest) {
			if isSeparator(line) {
				if !yield(manifest[begin:place]) {
					return
				}
				begin = place + len(line)
			}
			place += len(line)
		}
		yield(manifest[begin:])
	}
}

// isSeparator reports whether a line ends a document, unlike "-----BEGIN CERTIFICATE-----".
func isSeparator(line string) bool {
	rest, dashes := strings.CutPrefix(line, "---")
	return dashes && (rest == "" || strings.ContainsRune(" \t\r\n", rune(rest[0])))
}

// headOf returns the lines of apiVersion, kind and metadata of a document: from each of these keys
// to the next top-level key.
func headOf(document string) string {
	var head strings.Builder
	wanted := false
	for line := range strings.Lines(document) {
		if isKey(line) {
			name, _, _ := strings.Cut(line, ":")
			wanted = name == "apiVersion" || name == "kind" || name == "metadata"
		}
		if wanted {
			head.WriteString(line)
		}
	}
	return head.String()
}

// isKey reports whether a line begins with a top-level key, not with a list item or a comment.
func isKey(line string) bool {
	return strings.TrimSpace(line) != "" && !strings.ContainsRune(" \t-#", rune(line[0]))
}
