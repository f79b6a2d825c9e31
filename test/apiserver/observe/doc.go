// Package observe tests engine/observe on real API servers: every part of a Snapshot, missing
// permissions, and that a Snapshot contains no secret.
package observe
