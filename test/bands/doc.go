// Package bands proves that the bands of docs/architecture.md hold. Its tests
// write files that break each rule of .golangci.yml, and files that keep it,
// and ask the pinned linter about them: a rule that refuses nothing is as wrong
// as one that refuses too much. They also see to it that no folder is without
// a band, and that no product code builds a shell string.
//
// A new folder takes one row in table_test.go.
package bands
