//go:build !linux

package durable

import "io/fs"

// Hosts run Linux. On other systems only the CLI writes files, and it classifies no errors.

const noFollow = 0

// OwnerOf returns Caller: hosts do not run this system.
func OwnerOf(fs.FileInfo) Owner { return Caller }

func diskFull(error) bool { return false }

func diskBroken(error) bool { return false }

func renameNew(from, to string) error { return renameUnlessTaken(from, to) }
