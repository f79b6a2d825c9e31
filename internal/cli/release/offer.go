package release

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
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
	Connect func(ctx context.Context) (name string, installed Installation, to Target, err error)
}

// Target is a cluster to upgrade: *operations.Cluster.
type Target interface {
	Releases
	List(ctx context.Context) ([]refitv1alpha1.ClusterUpgrade, error)
}

// Observed is the cluster to upgrade: *assessing.Request.
type Observed interface {
	Snapshot() *cluster.Snapshot
	Forget() // it has changed
}

// List returns the operations of a cluster.
type List = func(ctx context.Context) ([]refitv1alpha1.ClusterUpgrade, error)

// Complete adds what is missing, until nothing is: the patch release of the target decides which
// others are on the path to it. It adds nothing that the hosts would refuse.
func (o *Offer) Complete(ctx context.Context, observed Observed, missing func(context.Context, List) ([]string, error)) error {
	list := func(ctx context.Context) ([]refitv1alpha1.ClusterUpgrade, error) { // after the flags are validated
		_, _, to, err := o.Connect(ctx)
		if err != nil {
			return nil, err
		}
		return to.List(ctx)
	}
	var before []string
	for {
		versions, err := missing(ctx, list)
		if err != nil || len(versions) == 0 || slices.Equal(versions, before) || !observed.Snapshot().Installed {
			return err
		}
		name, installed, to, err := o.Connect(ctx)
		if err != nil {
			return err
		}
		if possible, err := o.possible(ctx, installed); err != nil {
			fmt.Fprintf(o.Log, "Cannot offer to create %s of %s: %v\n", phrase.Plural(len(versions), "ClusterRelease"), phrase.List(versions), err)
			return nil
		} else if !possible {
			return nil
		}
		creations, err := o.creations(versions, observed.Snapshot())
		if err != nil || len(creations) == 0 {
			return err
		}
		question := fmt.Sprintf("%s has no %s of %s. Create %s from upstream, for the hosts of this cluster?", name,
			phrase.Plural(len(versions), "ClusterRelease"), phrase.List(versions), pronoun(len(versions)))
		if err := o.Confirm(ctx, question); err != nil {
			return err
		}
		if err := o.add(ctx, creations, name, installed, to); err != nil {
			return err
		}
		before = versions
		observed.Forget()
	}
}

func pronoun(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// possible reports whether the user has a key of their own whose signatures the hosts accept.
// Without one, other people provide ClusterReleases. It fails if that cannot be read.
func (o *Offer) possible(ctx context.Context, installed Installation) (bool, error) {
	public, err := o.publicKey()
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, err = within(ctx, o.Timeout, func(ctx context.Context) ([]artifact.PublicKey, error) { return pinned(ctx, installed, public) })
	if _, other := errors.AsType[notPinnedError](err); other {
		return false, nil
	}
	return err == nil, err
}

// creations returns how to create a ClusterRelease of each version, or of the newest patch release
// of a minor version, for the hosts of a cluster. There are none if a host is unknown: the
// preflight checks report it.
func (o *Offer) creations(versions []string, hosts *cluster.Snapshot) (out []*Creation, err error) {
	for _, version := range versions {
		creation := &Creation{Upstream: true, Reading: o.Reading}
		creation.Kubernetes = version
		if err := creation.Check(func(string) bool { return false }); err != nil {
			return nil, err
		}
		if creation.For(hosts) != nil {
			return nil, nil //nolint:nilerr // a host is unknown
		}
		out = append(out, creation)
	}
	return out, nil
}

func (o *Offer) add(ctx context.Context, creations []*Creation, name string, installed Installation, to Releases) error {
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
