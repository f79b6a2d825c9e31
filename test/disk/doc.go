// Package disk provides a small file system for tests whose power can be cut: unsynced data is
// lost.
package disk
