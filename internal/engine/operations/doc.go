// Package operations starts, changes, lists and follows the operations of a cluster through its
// API. It takes a client and keeps no state; internal/upgrade makes all decisions about an
// operation.
package operations
