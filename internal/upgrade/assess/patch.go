package assess

import (
	"fmt"
	"slices"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/kubefacts"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// NewestPatch returns the newest version of a minor version that a usable ClusterRelease has and
// that an upgrade with this spec can reach. Its error suggests only versions that can be reached.
func NewestPatch(minor string, s *cluster.Snapshot, spec refitv1alpha1.ClusterUpgradeSpec) (string, error) {
	newest := ""
	var others []string
	for _, v := range reachableReleases(s, spec) {
		if others = append(others, v.String()); v.MinorString() == minor {
			newest = v.String()
		}
	}
	if newest != "" {
		return newest, nil
	}
	example, err := examplePatch(minor, s, spec)
	if err != nil {
		return "", err
	}
	return "", NoReleaseError{Minor: "v" + minor, example: example.String(), others: others}
}

// NoReleaseError is the lack of a ClusterRelease of a minor version that an upgrade can reach.
type NoReleaseError struct {
	Minor string // such as v1.36

	example string
	others  []string // the versions of the ClusterReleases that the cluster has
}

func (e NoReleaseError) Error() string {
	text := fmt.Sprintf("the cluster has no ClusterRelease of %s: use a version such as %s", e.Minor, e.example)
	if len(e.others) > 0 {
		text += ", or one that it has a ClusterRelease of: " + strings.Join(e.others, ", ")
	}
	return text + fmt.Sprintf("; `refit release add %s --online` adds the newest one", e.Minor)
}

// reachableReleases returns the versions of the usable ClusterReleases that an upgrade can reach,
// the oldest first.
func reachableReleases(s *cluster.Snapshot, spec refitv1alpha1.ClusterUpgradeSpec) (out []skew.Version) {
	for i := range s.Releases {
		r := &s.Releases[i]
		v, err := skew.Parse(r.Payload.Kubernetes)
		if err != nil || r.Error != "" {
			continue
		}
		if _, err := reach(s, spec, v); err == nil {
			out = append(out, v)
		}
	}
	slices.SortFunc(out, skew.Version.Compare)
	return slices.Compact(out)
}

// examplePatch is a version of a minor version that an upgrade can reach: the newest that Refit has
// facts about, unless the control plane is newer.
func examplePatch(minor string, s *cluster.Snapshot, spec refitv1alpha1.ClusterUpgradeSpec) (skew.Version, error) {
	newest := "v" + minor + ".0"
	if facts, ok := kubefacts.For(minor); ok {
		newest = facts.Version
	}
	example, err := skew.Parse(newest)
	if err != nil {
		return example, err
	}
	path, err := reach(s, spec, example)
	if path.From.SameMinor(example) && example.Before(path.From) {
		return path.From, nil
	}
	return example, err
}

// reach returns the path of an upgrade with this spec to a version, and an error if there is none.
func reach(s *cluster.Snapshot, spec refitv1alpha1.ClusterUpgradeSpec, to skew.Version) (skew.Path, error) {
	spec.Target = refitv1alpha1.Target{Kubernetes: to.String()}
	return Reach(s, spec)
}
