// Package disk is a small file system for tests whose power can be cut: what was not synced is lost.
package disk
