// Package source gets the Snapshot for `refit check`, `plan` and `upgrade`: from a live cluster, or
// from a file that `refit snapshot` wrote.
package source
