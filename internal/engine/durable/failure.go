package durable

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Explain classifies the error of a file operation: a full and a broken disk become a node.Failure
// with its remedy, a node.Failure stays as it is, and every other error becomes "cannot VERB PATH".
func Explain(err error, verb, path string) error {
	var known *node.Failure
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return err
	case diskFull(err):
		return node.DiskFull(err, verb, path)
	case diskBroken(err):
		return node.DiskBroken(err, verb, path)
	default:
		return fmt.Errorf("cannot %s %s: %w", verb, path, err)
	}
}

// CheckPath refuses a path that depends on the working directory or leads through "..".
func CheckPath(path string) error {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path {
		return fmt.Errorf("%q is not a clean absolute path", path)
	}
	return nil
}
