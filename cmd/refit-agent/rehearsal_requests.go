package main

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/engine/etcd"
	"github.com/refit-dev/refit/internal/engine/rehearsal"
	"github.com/refit-dev/refit/internal/engine/rehearsal/requests"
	core "github.com/refit-dev/refit/internal/upgrade/rehearsal"
)

// rehearsalRequests runs in the sandbox of a rehearsal, where only it can reach the servers.
func (a *app) rehearsalRequests() *cobra.Command {
	c := &cobra.Command{
		Use:    rehearsal.Command,
		Short:  "Query the etcd or the API server of a rehearsal, within its sandbox",
		Hidden: true,
		Args:   noArguments,
	}
	report := c.Flags().String("report", "", "`file` to write the report to")
	database := c.Flags().String("database", "", "`file` of a restored database to read")
	url := c.Flags().String("etcd", "", "`URL` of the etcd to wait for")
	timeout := c.Flags().Duration("timeout", 10*time.Minute, "`time` until etcd must have answered")
	hash := c.Flags().Bool("hash", false, "hash the keys of etcd")
	revision := c.Flags().Int64("revision", 0, "`revision` up to which etcd hashes its keys")
	server := c.Flags().String("apiserver", "", "`URL` of the API server to list")
	token := c.Flags().String("token-file", "", "`file` with the token of the rehearsal")
	ready := c.Flags().Duration("ready-timeout", 3*time.Minute, "`time` until the API server must be ready")
	c.RunE = func(c *cobra.Command, _ []string) error {
		var result core.Report
		switch {
		case *database != "":
			result = readDatabase(c.Context(), *database)
		case *server != "":
			text, err := os.ReadFile(*token)
			if err != nil {
				return err
			}
			api := &requests.APIServer{URL: *server, Token: strings.TrimSpace(string(text)), ReadyTimeout: *ready, ListTimeout: 20 * time.Second}
			result = api.Run(c.Context())
		default:
			ctx, cancel := context.WithTimeout(c.Context(), *timeout)
			defer cancel()
			result = requests.Etcd(ctx, *url, *hash, *revision)
		}
		text, err := json.Marshal(result)
		if err != nil {
			return err
		}
		return os.WriteFile(*report, text, 0o600)
	}
	return c
}

// readDatabase returns the figures of a restored database, or a report of why there are none.
func readDatabase(ctx context.Context, path string) core.Report {
	content, err := etcd.ReadDatabase(ctx, path)
	if err != nil {
		return core.Report{Error: err.Error()}
	}
	return core.Report{Restored: core.Figures{Revision: content.Revision, Entries: content.Keys, EntriesHash: content.EntriesHash}}
}
