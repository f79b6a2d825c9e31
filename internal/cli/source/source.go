package source

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/rest"

	"github.com/refit-dev/refit/internal/cli/connect"
	"github.com/refit-dev/refit/internal/cli/document"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/engine/observe"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// DefaultTimeout is the default timeout of reading a cluster.
const DefaultTimeout = 5 * time.Minute

// Source is the origin of a Snapshot.
type Source struct {
	connect.Kubeconfig

	File    string // a saved Snapshot; empty: the cluster
	Timeout time.Duration
	Verbose bool
}

// Reader reads Sources.
type Reader struct {
	Command string // the command that the user types to run the CLI
	Now     func() time.Time
	// ReadFile reads a file, or standard input.
	ReadFile func(path string) ([]byte, error)
	// Reading reports the progress of reading a cluster.
	Reading func(cluster string, verbose bool) Reading
	// Observe takes the Snapshot of a cluster, and reports the part that it is reading.
	Observe func(ctx context.Context, config *rest.Config, part func(string)) (*cluster.Snapshot, error)
}

// Reading reports what is being read: *terminal.Reading.
type Reading interface {
	Part(part string)
	Last() string
	End()
}

// Observation is a Snapshot and its origin.
type Observation struct {
	Cluster  string // the user's name for the cluster
	Saved    string // the file that it was read from, empty for a live cluster
	Snapshot *cluster.Snapshot
	// At is the time at which the Snapshot is assessed. A saved one describes its cluster at the
	// time it was taken: later, each node would be down for longer, and certificates expired.
	At time.Time
}

// Read returns the Snapshot of a source.
func (r *Reader) Read(ctx context.Context, s *Source) (*Observation, error) {
	if s.Timeout <= 0 {
		return nil, exit.Usagef("--timeout must be positive, not %s", s.Timeout)
	}
	var got *Observation
	var err error
	if s.File != "" {
		got, err = r.Saved(s.File)
	} else {
		got, err = r.readCluster(ctx, s)
	}
	switch {
	case err != nil:
		return nil, err
	case len(got.Snapshot.Nodes) == 0:
		return nil, fmt.Errorf("%s has no nodes: there is nothing to upgrade", cmp.Or(got.Saved, got.Cluster))
	}
	return got, nil
}

// Saved returns a saved Snapshot.
func (r *Reader) Saved(path string) (*Observation, error) {
	raw, err := r.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the saved Snapshot: %w", err)
	}
	name := document.BaseOf(path)
	snapshot, err := cluster.Decode(bytes.NewReader(raw))
	switch {
	case errors.Is(err, cluster.ErrNewerFormat):
		return nil, fmt.Errorf("%s: %w: use that version of Refit, or take the Snapshot again", document.NameOf(path), err)
	case err != nil:
		return nil, exit.Usagef("%s: %w (`%s snapshot` writes one)", document.NameOf(path), err, r.Command)
	}
	if err := r.checkTime(snapshot.TakenAt); err != nil {
		return nil, exit.Usagef("%s: %w", document.NameOf(path), err)
	}
	return &Observation{Cluster: savedName(snapshot, name), Saved: name, Snapshot: snapshot, At: snapshot.TakenAt}, nil
}

// maxAhead is how far the clock of the machine that took a Snapshot may be ahead.
const maxAhead = time.Hour

// checkTime rejects a time that a Snapshot cannot have been taken at.
func (r *Reader) checkTime(takenAt time.Time) error {
	switch now := r.Now(); {
	case takenAt.IsZero():
		return errors.New("the saved Snapshot has no takenAt")
	case takenAt.After(now.Add(maxAhead)):
		return fmt.Errorf("the saved Snapshot was taken in the future (takenAt is %s, and it is %s): check the clock of both machines",
			takenAt.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339))
	}
	return nil
}

// savedName is the name of a cluster that was read from a file. kubeadm names every cluster
// "kubernetes" by default.
func savedName(s *cluster.Snapshot, file string) string {
	if s.Kubeadm != nil && s.Kubeadm.ClusterName != "" && s.Kubeadm.ClusterName != "kubernetes" {
		return s.Kubeadm.ClusterName
	}
	return cmp.Or(s.Endpoint.Address, file)
}

func (r *Reader) readCluster(ctx context.Context, s *Source) (*Observation, error) {
	config, name, err := s.Load()
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	reading := r.Reading(name, s.Verbose)
	defer reading.End()
	reading.Part("connecting to " + config.Host)
	var snapshot *cluster.Snapshot
	if _, err = connect.Reach(limited, config); err == nil {
		if snapshot, err = r.Observe(limited, config, reading.Part); err != nil {
			err = fmt.Errorf("cannot read %s: %w", name, err)
		}
	}
	if err != nil && errors.Is(limited.Err(), context.DeadlineExceeded) {
		return nil, exit.TimeoutError{Err: fmt.Errorf("cannot read %s within %s (last part: %s): increase --timeout", name, s.Timeout, reading.Last())}
	}
	return &Observation{Cluster: name, Snapshot: snapshot, At: r.Now()}, err
}

// Observe takes the Snapshot of a cluster with the permissions of the user.
func Observe(ctx context.Context, config *rest.Config, part func(string)) (*cluster.Snapshot, error) {
	observer, err := observe.New(config, observe.Options{Progress: part})
	if err != nil {
		return nil, err
	}
	return observer.Snapshot(ctx, "")
}
