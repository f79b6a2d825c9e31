package release

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

// Offer adds the ClusterReleases that an upgrade lacks, from upstream, if the user agrees.
type Offer struct {
	Addition

	Reading func(name string) Reading
	// Connect connects to the cluster, and returns its name.
	Connect func(ctx context.Context) (name string, installed Installation, to Releases, err error)
}

// Observed is the cluster to upgrade: *assessing.Request.
type Observed interface {
	Snapshot() *cluster.Snapshot
	Forget() // it has changed
}

// Complete adds what is missing, until nothing is: the patch release of the target decides which
// others are on the path to it. It adds nothing that the hosts would refuse.
func (o *Offer) Complete(ctx context.Context, observed Observed, missing func(ctx context.Context) ([]string, error)) error {
	var before []string
	for {
		versions, err := missing(ctx)
		if err != nil || len(versions) == 0 || slices.Equal(versions, before) || !observed.Snapshot().Installed {
			return err
		}
		name, installed, to, err := o.Connect(ctx)
		if err != nil || !o.possible(ctx, installed) {
			return err
		}
		if err := o.add(ctx, versions, observed.Snapshot(), name, installed, to); err != nil {
			return err
		}
		before = versions
		observed.Forget()
	}
}

// possible reports whether the user has a key of their own whose signatures the hosts accept.
// Without one, other people provide ClusterReleases.
func (o *Offer) possible(ctx context.Context, installed Installation) bool {
	public, err := o.publicKey()
	if err != nil {
		return false
	}
	_, err = within(ctx, o.Timeout, func(ctx context.Context) ([]artifact.PublicKey, error) { return pinned(ctx, installed, public) })
	return err == nil
}

// add prompts the user, then adds a ClusterRelease of each version, or of the newest patch release
// of a minor version, for the hosts of the cluster.
func (o *Offer) add(ctx context.Context, versions []string, hosts *cluster.Snapshot, name string, installed Installation, to Releases) error {
	var creations []*Creation
	for _, version := range versions {
		creation := &Creation{Upstream: true, Reading: o.Reading}
		creation.Kubernetes = version
		if err := creation.Check(func(string) bool { return false }); err != nil {
			return err
		}
		if err := creation.For(hosts); err != nil {
			return err // before the prompt
		}
		creations = append(creations, creation)
	}
	if err := o.Confirm(ctx, fmt.Sprintf("%s has no %s of %s. Create it from upstream, for the hosts of this cluster?",
		name, phrase.Plural(len(versions), "ClusterRelease"), strings.Join(versions, " and "))); err != nil {
		return err
	}
	for _, creation := range creations {
		o.Content = creation.Create
		added, err := o.Add(ctx, name, installed, to)
		if err != nil {
			return err
		}
		fmt.Fprintln(o.Log, text.AddedReleaseLine(added))
	}
	return nil
}
