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
		Short: "Remove the agent from this host, with everything that it kept",
		Long: `uninstall stops the service and removes it, its unit, the keys, the settings and the state, with
what was kept of replaced files for the way back. What works installed stays. It refuses while a
work is open: let it end, or put the host back (refit-agent undo).`,
		Example: `  refit-agent uninstall`,
		Args:    cobra.NoArgs,
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
		Use:     "remove --host DIRECTORY",
		Short:   "Remove the agent from the host whose root is mounted here",
		Long:    `remove does what uninstall does, from within a container: for refit uninstall.`,
		Example: `  refit-agent remove --host /host`,
		Args:    cobra.NoArgs,
	}
	root := c.Flags().String("host", "", "where the host's root directory is mounted")
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

// doRemove takes the agent off a host. It can be repeated, also after it was cut off: the program goes last.
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
	if err := s.letGo(loaded); err != nil {
		return err
	}
	left, err := removeState(loaded, loaded.StateDir == s.path(settings.Default().StateDir))
	if err != nil {
		return err
	}
	for _, path := range []string{bootLink, unitFile + ".d", unitFile, filepath.Dir(settings.File), program} {
		if err := removeAll(s.path(path)); err != nil {
			return err
		}
	}
	if err := s.service.Forget(ctx); err != nil {
		return err
	}
	if left {
		fmt.Fprintf(a.out, "the agent is removed; %s is left, since there is more in it than the agent's\n", loaded.StateDir)
		return nil
	}
	fmt.Fprintln(a.out, "the agent is removed")
	return nil
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// removeState removes the state directory. One that somebody chose may hold more than ours, which stays.
func removeState(s settings.Settings, whole bool) (left bool, err error) {
	if whole {
		return false, removeAll(s.StateDir)
	}
	for _, path := range []string{
		s.StoreDir(), s.ReleasesDir(), s.UpgradesDir(), s.ReserveFile(), s.StateFile(), filepath.Join(s.StateDir, "manifests"), s.LockFile(),
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
		return fmt.Errorf("removing %s: %w", path, err)
	}
	return durable.Remove(path) // which makes it last
}
