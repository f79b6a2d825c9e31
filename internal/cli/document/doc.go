// Package document encodes the documents of api/cli/v1alpha1 as JSON and YAML, and decodes the
// objects of Refit that users write. Nothing in an encoded document can act on a terminal.
package document
