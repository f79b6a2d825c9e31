// Package operations starts, changes, lists and follows the operations of a cluster through its
// API. It takes a client and keeps no state; what is decided about an operation comes from
// internal/upgrade.
package operations
