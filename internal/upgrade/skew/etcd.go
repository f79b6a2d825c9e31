package skew

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/version"
)

// etcdFloor is the version that every member must have before etcd 3.6: below it a learner may be promoted in the old store only (3.5.1 to 3.5.19),
// and removed members may come back to life (to 3.5.25). etcd's authors know no safe way around.
var etcdFloor = version.MustParseSemantic("3.5.26")

// EtcdStep judges etcd's way from one version to another. It returns an empty reason if it may be gone.
// Versions may carry a build suffix as image tags do: 3.6.8-0.
func EtcdStep(from, to string) (reason string, err error) {
	old, err := parseEtcd(from)
	if err != nil {
		return "", err
	}
	target, err := parseEtcd(to)
	if err != nil {
		return "", err
	}
	minors := int(target.Minor()) - int(old.Minor())
	switch {
	case target.Major() != old.Major():
		return fmt.Sprintf("etcd cannot go from %s to %s: another major version", from, to), nil
	case minors > 1:
		return fmt.Sprintf("etcd goes one minor version at a time: from %s it cannot go to %s", from, to), nil
	case minors == 1 && old.Minor() == 5 && old.LessThan(etcdFloor):
		return fmt.Sprintf("etcd %s must first be at %s or later: an older 3.5 can lose or revive members on the way to 3.6", from, etcdFloor), nil
	}
	return "", nil
}

// EtcdStays says whether etcd must be left as it is because what runs is newer than what the release brings: etcd is never lowered.
func EtcdStays(from, to string) bool {
	old, err := parseEtcd(from)
	if err != nil {
		return false
	}
	target, err := parseEtcd(to)
	return err == nil && target.LessThan(old)
}

func parseEtcd(s string) (*version.Version, error) {
	v, err := version.ParseGeneric(s)
	if err != nil {
		return nil, fmt.Errorf("%q is no version of etcd: %w", s, err)
	}
	return v, nil
}
