// Package bundling is `refit support-bundle`: it validates what to collect, collects it with the
// permissions of the user, and creates the file.
package bundling
