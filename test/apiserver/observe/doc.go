// Package observe tests engine/observe on real API servers: every part of a Snapshot, what happens without rights, and that no secret gets into it.
package observe
