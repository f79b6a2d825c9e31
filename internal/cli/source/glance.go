package source

import (
	"context"

	"github.com/refit-dev/refit/internal/cli/connect"
)

// Glance returns what is cheap to read of a source: the version of a cluster, and also the names of
// its ClusterReleases if the Snapshot is saved. Both are empty if they cannot be read.
func (r *Reader) Glance(ctx context.Context, s *Source) (version string, releases []string) {
	if s.File == "" {
		config, _, err := s.Load()
		if err != nil {
			return "", nil
		}
		version, _ = connect.Reach(ctx, config)
		return version, nil
	}
	observed, err := r.Saved(s.File)
	if err != nil {
		return "", nil
	}
	for i := range observed.Snapshot.Releases {
		releases = append(releases, observed.Snapshot.Releases[i].Name)
	}
	return observed.Snapshot.Version, releases
}
