// Package cli tests the refit commands that control an upgrade, as a separate process, on a real
// API server with Refit's CRDs and policies. There are no nodes and no controllers: the tests write
// the status of the objects.
package cli
