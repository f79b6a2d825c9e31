package host

import (
	"errors"
	"io/fs"
	"os"

	"github.com/refit-dev/refit/internal/engine/durable"
)

// The names under which save.go and restore.go call package durable.

const tmpSuffix = ".refit-tmp"

type owner struct{ uid, gid int }

var self = owner{-1, -1}

var (
	told     = durable.Explain
	absolute = durable.CheckPath
	syncDir  = durable.SyncDir
	mkdirAll = durable.MkdirAll
	// WriteFile is durable.WriteFile.
	WriteFile = durable.WriteFile
	// MkdirAll is durable.MkdirAll.
	MkdirAll = durable.MkdirAll
)

func writeFile(path string, data []byte, mode fs.FileMode, who owner) error {
	return durable.WriteFileAs(path, data, mode, durable.Owner{UID: who.uid, GID: who.gid})
}

func fill(path string, mode fs.FileMode, who owner, write func(*os.File) error) error {
	return durable.Create(path, mode, durable.Owner{UID: who.uid, GID: who.gid}, write)
}

func replace(from, to string) error {
	err := durable.Rename(from, to)
	if err != nil {
		err = errors.Join(err, os.Remove(from))
	}
	return err
}
