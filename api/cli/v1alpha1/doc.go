// Package v1alpha1 has the documents that `refit ... -o json` and `-o yaml` print. A server that
// offers the same operations answers with them, too.
//
// The documents are apart from the types that decisions are made with, so that those can change
// without breaking a script. The text that the CLI prints is rendered from these documents:
// whatever a user reads, a script can read.
//
// Fields may be added to a document; none is removed or changes its meaning within a version.
package v1alpha1
