package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// version is set at build time.
var version = "development"

// app is shared by all commands.
type app struct {
	out, err io.Writer
	settings string
}

func command(out, err io.Writer) *cobra.Command {
	a := &app{out: out, err: err}
	root := &cobra.Command{
		Use:   "refit-agent",
		Short: "Upgrade this host in place and roll it back on failure",
		Long: `refit-agent runs as a systemd service on every host of a cluster. It executes orders (NodeUpgrade
objects) with a journal on its own disk, so that it resumes exactly where a crash, a reboot or a
power cut interrupted it, with or without an API server.`,
		SilenceUsage: true, SilenceErrors: true, Version: version,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },

		SuggestionsMinimumDistance: 2,
	}
	root.SetOut(out)
	root.SetErr(err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.PersistentFlags().StringVar(&a.settings, "settings", settings.File, "`file` with the settings of this host")
	root.AddCommand(a.run(), a.install(), a.uninstall(), a.status(), a.steps(), a.undo(), a.forget(), a.backup(), a.restore(), a.place(), a.remove(), a.pause(),
		a.try(), a.rehearse(), a.rehearsalRequests(), a.hostBundle(), a.supportBundle())
	for _, c := range root.Commands() {
		c.RunE = blameMissingRoot(c.RunE, os.Geteuid())
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.PersistentPreRunE = rejectContradictions
	return root
}

// load reads the settings. Only the default file may be missing.
func (a *app) load() (settings.Settings, error) {
	if _, err := os.Stat(a.settings); a.settings != settings.File && errors.Is(err, fs.ErrNotExist) {
		return settings.Settings{}, usagef("--settings: %s does not exist", a.settings)
	}
	return settings.Load(a.settings)
}

// logger writes JSON for the systemd journal.
func (a *app) logger() *slog.Logger {
	log := slog.New(slog.NewJSONHandler(a.err, nil))
	slog.SetDefault(log)
	return log
}

// describe formats an error with its remedy.
func describe(err error) string {
	if f, ok := errors.AsType[*node.Failure](err); ok {
		return fmt.Sprintf("%s (%s, %s)\n  remedy: %s", f.Error(), f.Class, f.Reason, f.Remedy)
	}
	return err.Error()
}
