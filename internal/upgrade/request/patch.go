package request

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

var minorVersion = regexp.MustCompile(`^v?(1\.(0|[1-9][0-9]{0,3}))$`)

// ParseMinor parses a minor version such as v1.36 and returns 1.36.
func ParseMinor(s string) (minor string, ok bool) {
	match := minorVersion.FindStringSubmatch(s)
	if match == nil {
		return "", false
	}
	return match[1], true
}

// NewestPatch returns the newest version of a minor version that a usable ClusterRelease has.
func NewestPatch(minor string, releases []cluster.Release) (string, error) {
	var newest skew.Version
	var versions []string
	for i := range releases {
		r := &releases[i]
		if r.Error != "" {
			continue
		}
		versions = append(versions, r.Payload.Kubernetes)
		if v, err := skew.Parse(r.Payload.Kubernetes); err == nil && v.MinorString() == minor && newest.Before(v) {
			newest = v
		}
	}
	if newest.IsZero() {
		found := "no ClusterRelease at all"
		if len(versions) > 0 {
			found = "ClusterReleases of " + strings.Join(versions, ", ")
		}
		return "", fmt.Errorf("the cluster has no ClusterRelease of v%s, but %s: use a version such as v%s.1", minor, found, minor)
	}
	return newest.String(), nil
}
