package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/engine/durable"
)

func (a *app) uninstall() *cobra.Command {
	return &cobra.Command{
		Use:   "uninstall",
		Short: "Remove the agent and its state from this host",
		Long: `uninstall stops the service and removes it with its unit, keys, settings and state, including the
files that are kept for a rollback. Installed versions stay. It fails during an upgrade: wait until
it is finished, or roll it back with refit-agent undo.`,
		Example: `  # Remove the agent
  refit-agent uninstall`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := needsRoot("uninstall"); err != nil {
				return err
			}
			s := a.site()
			defer s.service.Close()
			return a.doRemove(c.Context(), s)
		},
	}
}

func (a *app) remove() *cobra.Command {
	c := &cobra.Command{
		Use:   "remove --host DIRECTORY",
		Short: "Remove the agent from the host whose root directory is mounted in this container",
		Long:  `remove does what uninstall does, from within a container: refit uninstall runs it.`,
		Example: `  # Remove the agent from a Pod
  refit-agent remove --host /host`,
		Args: noArguments,
	}
	root := c.Flags().String("host", "", "mount point of the host's root `directory`")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := enter("remove", *root); err != nil {
			return err
		}
		s := a.site()
		s.settings = settings.File
		defer s.service.Close()
		return a.doRemove(c.Context(), s)
	}
	return c
}

// doRemove removes the agent from a host. It can be repeated after an interruption: the binary is
// removed last.
func (a *app) doRemove(ctx context.Context, s *site) error {
	loaded, err := s.load()
	if err != nil {
		return err
	}
	lock, err := s.quiet(ctx)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := s.cleanUp(ctx, loaded); err != nil {
		return err
	}
	left, err := removeState(loaded, loaded.StateDir == s.path(settings.Default().StateDir))
	if err != nil {
		return err
	}
	for _, path := range []string{bootLink, unitFile + ".d", unitFile, filepath.Dir(settings.File), binaryFile} {
		if err := removeAll(s.path(path)); err != nil {
			return err
		}
	}
	if err := s.service.Forget(ctx); err != nil {
		return err
	}
	if left {
		fmt.Fprintf(a.out, "Removed the agent, but not %s, which contains other files\n", loaded.StateDir)
		return nil
	}
	fmt.Fprintln(a.out, "Removed the agent")
	return nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// removeState removes the state directory. A directory from the settings may contain other files,
// which stay.
func removeState(s settings.Settings, whole bool) (left bool, err error) {
	if whole {
		return false, removeAll(s.StateDir)
	}
	for _, path := range []string{
		s.StoreDir(), s.ReleasesDir(), s.UpgradesDir(), s.BackupsDir(), s.RehearsalDir(), s.RehearsalLock(), s.BackupRecords(), s.ReserveFile(),
		s.StateFile(), filepath.Join(s.StateDir, "manifests"), s.LockFile(),
	} {
		if err := removeAll(path); err != nil {
			return false, err
		}
	}
	err = os.Remove(s.StateDir)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return true, nil
}

// removeAll removes a file or a directory with everything in it, durably.
func removeAll(path string) error {
	if err := os.RemoveAll(path); err != nil {
		return fmt.Errorf("cannot remove %s: %w", path, err)
	}
	return durable.Remove(path) // syncs the parent directory
}
