// Package layers proves that the layers of docs/architecture.md hold. Its tests write files that
// break each rule of .golangci.yml, and files that keep it, and run the pinned linter on them: a
// rule that refuses nothing is as wrong as one that refuses too much. They also check that every
// folder belongs to a layer, that chains of imports are short, that every command runs all
// controllers, and that no product code builds a shell string.
//
// A new folder needs one row in table_test.go.
package layers
