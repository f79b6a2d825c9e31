package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
)

func needsRoot(command string) error {
	if os.Geteuid() != 0 {
		return errors.New(command + " must run as root")
	}
	return nil
}

// blameMissingRoot reports a permission error of another user than root as what it is, without a
// remedy that is meant for a damaged host.
func blameMissingRoot(run func(*cobra.Command, []string) error, uid int) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		err := run(c, args)
		denied, ok := errors.AsType[*fs.PathError](err)
		if uid == 0 || !ok || !errors.Is(err, fs.ErrPermission) {
			return err
		}
		return fmt.Errorf("%s must run as root: %w", c.Name(), denied)
	}
}
