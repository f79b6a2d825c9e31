package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/agent"
	"github.com/refit-dev/refit/internal/engine/rehearsal"
	core "github.com/refit-dev/refit/internal/upgrade/rehearsal"
)

// rehearsalRequest is the file of `rehearse`. Without hops it is a drill.
type rehearsalRequest struct {
	Backup struct {
		File      string       `json:"file"`
		EtcdImage string       `json:"etcdImage"`
		Expected  core.Figures `json:"expected"`
	} `json:"backup"`
	Hops []struct {
		Version   string `json:"version"`
		EtcdImage string `json:"etcdImage"`
		// Files of rendered manifests; without Etcd, etcd is external.
		Etcd      string `json:"etcd"`
		APIServer string `json:"apiServer"`
	} `json:"hops"`
	ReadyTimeoutSeconds int `json:"readyTimeoutSeconds"`
}

func (a *app) rehearse() *cobra.Command {
	return &cobra.Command{
		Use:    "rehearse REQUEST",
		Short:  "Restore a backup of etcd beside the cluster and run target versions on it",
		Hidden: true,
		Long: `rehearse restores a backup that is on this host, compares it with its record and runs each hop on its
data, in sandboxes without a network. It changes nothing of the cluster, and removes everything that
it creates. It prints its result as JSON.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			result, err := a.runRehearsal(c.Context(), args[0])
			if err != nil {
				return err
			}
			encoder := json.NewEncoder(a.out)
			encoder.SetIndent("", "  ")
			return encoder.Encode(result)
		},
	}
}

func (a *app) runRehearsal(ctx context.Context, file string) (rehearsal.Result, error) {
	backup, hops, timeouts, err := readRehearsal(file)
	if err != nil {
		return rehearsal.Result{}, err
	}
	loaded, err := a.load()
	if err != nil {
		return rehearsal.Result{}, err
	}
	runner, err := agent.ConnectRehearsals(ctx, &loaded, rehearsal.Observer{
		Progress: func(p rehearsal.Progress) { fmt.Fprintf(a.err, "%s (at most %s)\n", p.Message, p.Timeout) },
	})
	if err != nil {
		return rehearsal.Result{}, err
	}
	defer runner.Close()
	runner.Timeouts = timeouts
	return runner.Rehearse(ctx, backup, hops)
}

func readRehearsal(file string) (b rehearsal.Backup, hops []rehearsal.Hop, timeouts rehearsal.Timeouts, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return b, nil, timeouts, err
	}
	var request rehearsalRequest
	if err := json.Unmarshal(text, &request); err != nil {
		return b, nil, timeouts, fmt.Errorf("cannot parse %s: %w", file, err)
	}
	timeouts = rehearsal.DefaultTimeouts()
	if request.ReadyTimeoutSeconds > 0 {
		timeouts.Ready = time.Duration(request.ReadyTimeoutSeconds) * time.Second
	}
	b = rehearsal.Backup(request.Backup)
	for _, h := range request.Hops {
		hop := rehearsal.Hop{Version: h.Version, EtcdImage: h.EtcdImage}
		if hop.APIServer, err = readManifest(h.APIServer); err != nil {
			return b, nil, timeouts, err
		}
		if h.Etcd != "" {
			if hop.Etcd, err = readManifest(h.Etcd); err != nil {
				return b, nil, timeouts, err
			}
		}
		hops = append(hops, hop)
	}
	if b.File == "" || b.EtcdImage == "" {
		return b, nil, timeouts, errors.New("the request names no backup or no image of etcd")
	}
	return b, hops, timeouts, nil
}

func readManifest(file string) (core.Manifest, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return core.Manifest{}, err
	}
	return rehearsal.ParseManifest(text)
}
