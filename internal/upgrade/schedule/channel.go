package schedule

import (
	"errors"
	"fmt"
	"slices"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
	"github.com/refit-dev/refit/internal/upgrade/plan"
	"github.com/refit-dev/refit/internal/upgrade/policy"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// Release is a ClusterRelease that a channel may choose.
type Release struct {
	cluster.Release

	// Created is when the object was created in this cluster. A signed release has no date.
	Created time.Time
	// RejectedBy is the number of hosts that reject it.
	RejectedBy int32
}

// Target is what a channel chooses.
type Target struct {
	From    skew.Version // what the cluster runs; zero if that is unknown
	Version skew.Version // zero if it chooses none
	Release string
	Message string // why
}

// None reports whether the channel chooses no version.
func (t Target) None() bool { return t.Release == "" }

// Unknown reports whether the versions of the cluster are unknown, so that the channel could not
// choose.
func (t Target) Unknown() bool { return t.From.IsZero() }

// candidate is a ClusterRelease that can be read.
type candidate struct {
	*Release
	version skew.Version
}

// excluded is why the candidate must not be installed yet, empty if it may.
func (c *candidate) excluded(minAge time.Duration, now time.Time) string {
	switch due := c.Created.Add(minAge); {
	case c.RejectedBy > 0:
		return fmt.Sprintf("%s is rejected by %s", c.Name, phrase.Count(int(c.RejectedBy), "host"))
	case due.After(now):
		return fmt.Sprintf("%s is old enough from %s", c.Name, due.UTC().Format(time.RFC3339))
	}
	return ""
}

// Choose returns the target of a schedule: the newest patch release of the highest minor version
// that the channel permits.
func Choose(spec *refitv1alpha1.UpgradeScheduleSpec, s *cluster.Snapshot, releases []Release, now time.Time) Target {
	running, err := runningOf(s, spec.Template.Spec(refitv1alpha1.Target{}))
	if err != nil {
		return Target{Message: "no version is chosen: " + err.Error()}
	}
	candidates, excluded := readable(releases)
	highest := highestMinor(&spec.Channel, &running, candidates)
	out := Target{From: running.oldest}
	var best *candidate
	for i := range candidates {
		c := &candidates[i]
		if c.version.Before(running.floor) || c.version.Minor > highest || !running.changes(c.version) {
			continue
		}
		if why := c.excluded(spec.Channel.MinAge.Duration, now); why != "" {
			excluded = append(excluded, why)
			continue
		}
		if best == nil || best.before(c) {
			best = c
		}
	}
	if best == nil {
		out.Message = nothing(spec, &running, highest) + because(excluded)
		return out
	}
	out.Version, out.Release = best.version, best.Name
	out.Message = fmt.Sprintf("%s is the newest ClusterRelease that channel %s permits from %s", best.Name, spec.Channel.Follow, running.oldest) +
		because(excluded)
	return out
}

func nothing(spec *refitv1alpha1.UpgradeScheduleSpec, running *running, highest int) string {
	if spec.Channel.Follow == refitv1alpha1.FollowMinor && highest > running.floor.Minor {
		return fmt.Sprintf("the cluster runs %s, and there is no newer ClusterRelease up to v1.%d", running.oldest, highest)
	}
	return fmt.Sprintf("the cluster runs %s, and there is no newer ClusterRelease of v1.%d", running.oldest, running.floor.Minor)
}

// because lists the ClusterReleases that were not chosen.
func because(excluded []string) string {
	if len(excluded) == 0 {
		return ""
	}
	slices.Sort(excluded)
	return "; " + phrase.Fold(excluded, phrase.FewNames)
}

// readable returns the ClusterReleases with known versions, and why the others cannot be used.
func readable(releases []Release) (out []candidate, excluded []string) {
	for i := range releases {
		r := &releases[i]
		version, err := skew.Parse(r.Payload.Kubernetes)
		switch {
		case r.Error != "":
			excluded = append(excluded, fmt.Sprintf("%s cannot be used: %s", r.Name, r.Error))
		case err != nil:
			excluded = append(excluded, fmt.Sprintf("%s cannot be used: %v", r.Name, err))
		default:
			out = append(out, candidate{r, version})
		}
	}
	return out, excluded
}

// before reports whether another one of the same or a newer version is preferred, as in an upgrade
// to a version.
func (c *candidate) before(other *candidate) bool {
	if c.version != other.version {
		return c.version.Before(other.version)
	}
	return policy.CompareNames(c.Name, other.Name) < 0
}

// highestMinor is the highest minor version that a channel permits: never less than what runs.
func highestMinor(channel *refitv1alpha1.Channel, running *running, candidates []candidate) int {
	if channel.Follow != refitv1alpha1.FollowMinor {
		return running.floor.Minor
	}
	newest := running.floor.Minor
	for i := range candidates {
		newest = max(newest, candidates[i].version.Minor)
	}
	highest := min(running.oldest.Minor+1, newest-int(channel.Lag))
	if running.limit != 0 {
		highest = min(highest, running.limit)
	}
	return max(highest, running.floor.Minor)
}

// running is what the nodes of an upgrade run.
type running struct {
	oldest skew.Version // the version to follow: of the control plane, or of the oldest worker if only workers are upgraded
	floor  skew.Version // the lowest possible target
	limit  int          // the highest possible minor version, 0 for any
	nodes  []skew.Version
}

// changes reports whether an upgrade to a version would change a node.
func (r *running) changes(to skew.Version) bool {
	return slices.ContainsFunc(r.nodes, func(v skew.Version) bool { return v.Before(to) })
}

var errNoWorker = errors.New("no worker that the template selects reports a version")

func runningOf(s *cluster.Snapshot, spec refitv1alpha1.ClusterUpgradeSpec) (running, error) {
	spec = policy.Defaulted(spec)
	controlPlane, _, err := plan.RunningVersion(s, spec)
	if err != nil {
		return running{}, err
	}
	out := running{oldest: controlPlane, floor: controlPlane}
	if spec.Scope == refitv1alpha1.ScopeWorkers {
		out.oldest, out.floor, out.limit = skew.Version{}, skew.Version{}, controlPlane.Minor
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if policy.Exclusion(&spec, n) != "" {
			continue
		}
		versions := []skew.Version{kubelet(n)}
		if n.ControlPlane {
			versions = append(versions, s.APIServerVersion(n))
		}
		for _, v := range versions {
			if v.IsZero() {
				continue
			}
			out.nodes = append(out.nodes, v)
			if n.ControlPlane && out.floor.Before(v) {
				out.floor = v // the control plane is never downgraded
			}
			if spec.Scope == refitv1alpha1.ScopeWorkers && (out.oldest.IsZero() || v.Before(out.oldest)) {
				out.oldest, out.floor = v, v
			}
		}
	}
	if out.oldest.IsZero() {
		return out, errNoWorker
	}
	return out, nil
}

func kubelet(n *cluster.Node) skew.Version {
	v, _ := skew.Parse(n.Kubelet) // zero if it is unknown
	return v
}
