// Package durable writes files, names and directories so that a kill or a power cut at any instant
// leaves either the complete old state or the complete new one, and so that a completed call
// survives a power cut. It is the only adapter that other adapters may import.
//
// A new file is written under a temporary name beside its own, given its owner, mode and extended
// attributes, synced, renamed and its directory synced, in this order. Names that begin with a dot
// and end with .refit-tmp belong to this package.
//
// A file that is written again has the extended attributes of the one that it replaces: its ACL and
// its SELinux label. Files of the host are written by ReplaceFile or with saved Attributes, which
// also have its mode and owner.
//
// WriteFile, WriteFileWith, ReplaceFile, Copy, MkdirAll and Remove return errors that Explain has
// classified. All others return the error of the system call: their callers can describe the
// operation better.
package durable
