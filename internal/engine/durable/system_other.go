//go:build !linux

package durable

import "io/fs"

// Hosts run Linux. On other systems only the command line writes files, which classifies no errors.

const noFollow = 0

// OwnerOf returns Caller: this system is not one of a host.
func OwnerOf(fs.FileInfo) Owner { return Caller }

func diskFull(error) bool { return false }

func diskBroken(error) bool { return false }

func renameNew(from, to string) error { return renameUnlessTaken(from, to) }
