package assessing

import (
	"strings"

	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
	"github.com/refit-dev/refit/internal/upgrade/request"
)

// noTarget is the error for a missing target. It names the version and the ClusterReleases of the
// cluster, as far as they are known.
func noTarget(at string, releases []string) error {
	const use = "no target: use --to VERSION%s, or --release NAME"
	example := ""
	if version := request.ExampleTarget(at); version != "" {
		example = ", for example --to " + version
	}
	switch {
	case len(releases) > 0:
		return exit.Usagef(use+"; the cluster is at %s and has the %s %s",
			example, at, phrase.Plural(len(releases), "ClusterRelease"), strings.Join(releases, ", "))
	case at != "":
		return exit.Usagef(use+"; the cluster is at %s", example, at)
	}
	return exit.Usagef(use, example)
}
