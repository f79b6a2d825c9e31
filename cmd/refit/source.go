package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"

	"github.com/refit-dev/refit/internal/engine/observe"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// source is where a Snapshot comes from: a cluster, or a file that `refit snapshot` wrote.
type source struct {
	kubeconfig

	from    string // the file; empty: the cluster
	timeout time.Duration
	verbose bool
}

// stdio is the name of a file that stands for standard input or output.
const stdio = "-"

// readWithin is how long reading a cluster may take, unless somebody says otherwise.
const readWithin = 5 * time.Minute

func (s *source) addFlags(cmd *cobra.Command) {
	s.kubeconfig.addFlags(cmd)
	cmd.Flags().DurationVar(&s.timeout, "timeout", readWithin, "how long reading the cluster may take")
	cmd.Flags().BoolVarP(&s.verbose, "verbose", "v", false, "tell on stderr what is being read, even where it is no terminal")
}

func (s *source) addFromFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.from, "from", "", "read a saved Snapshot from this `FILE` (- for stdin) instead of the cluster")
}

// seen is a Snapshot and what people call the cluster.
type seen struct {
	name     string
	saved    string // the file that it was read from
	snapshot *cluster.Snapshot
}

// read gets the Snapshot.
func (s *source) read(ctx context.Context, a *app) (*seen, error) {
	var got *seen
	var err error
	if s.timeout <= 0 {
		return nil, usage("--timeout: %s is no time to read a cluster in", s.timeout)
	}
	if s.from != "" {
		got, err = s.readFile(a)
	} else {
		got, err = s.readCluster(ctx, a)
	}
	switch {
	case err != nil:
		return nil, err
	case len(got.snapshot.Nodes) == 0:
		return nil, fmt.Errorf("%s has no nodes: there is nothing to upgrade", cmp.Or(got.saved, got.name))
	}
	return got, nil
}

func (s *source) readFile(a *app) (*seen, error) {
	in, name := a.in, "stdin"
	if s.from != stdio {
		file, err := os.Open(s.from)
		if err != nil {
			return nil, fmt.Errorf("the saved Snapshot cannot be read: %w", err)
		}
		defer file.Close()
		in, name = file, filepath.Base(s.from)
	}
	snapshot, err := cluster.Decode(in)
	switch {
	case errors.Is(err, cluster.ErrNewerFormat):
		return nil, fmt.Errorf("%s: %w: use that version of Refit, or take the Snapshot anew", name, err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w (`%s snapshot` writes one)", name, err, a.name)
	}
	return &seen{name: savedName(snapshot, name), saved: name, snapshot: snapshot}, nil
}

// savedName is what to call a cluster that only a file speaks of. "kubernetes" is kubeadm's name for every cluster that was given none.
func savedName(s *cluster.Snapshot, file string) string {
	if s.Kubeadm != nil && s.Kubeadm.ClusterName != "" && s.Kubeadm.ClusterName != "kubernetes" {
		return s.Kubeadm.ClusterName
	}
	return cmp.Or(s.Endpoint.Address, file)
}

func (s *source) readCluster(ctx context.Context, a *app) (*seen, error) {
	config, name, err := s.load()
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	reading := newReading(a, name, s.verbose)
	defer reading.end()
	reading.doing("asking " + config.Host)
	var snapshot *cluster.Snapshot
	if _, err = reach(limited, config); err == nil {
		if snapshot, err = a.observe(limited, config, reading.doing); err != nil {
			err = fmt.Errorf("%s cannot be read: %w", name, err)
		}
	}
	if err != nil && errors.Is(limited.Err(), context.DeadlineExceeded) {
		return nil, timeoutError{fmt.Errorf("%s was not read within %s (last: %s): give it more with --timeout", name, s.timeout, reading.last())}
	}
	return &seen{name: name, snapshot: snapshot}, err
}

// observeCluster looks at a cluster with the rights of whoever runs the command.
func observeCluster(ctx context.Context, config *rest.Config, doing func(what string)) (*cluster.Snapshot, error) {
	reader, err := observe.New(config, observe.Options{Progress: doing})
	if err != nil {
		return nil, err
	}
	return reader.Snapshot(ctx, "")
}

// open reads a file, or standard input.
func (a *app) open(name string) ([]byte, error) {
	if name == stdio {
		return io.ReadAll(a.in)
	}
	return os.ReadFile(name)
}
