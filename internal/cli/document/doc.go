// Package document encodes the documents of api/cli/v1alpha1 as JSON and YAML for terminals and
// scripts: nothing in them can act on a terminal.
package document
