// Package source gets the Snapshot that `refit check`, `plan` and `upgrade` are about: from a live
// cluster, or from a file that `refit snapshot` wrote.
package source
