package skew

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/version"
)

// etcdFloor is the oldest version from which etcd 3.6 is safe: before 3.5.20 a learner may be
// promoted in the v2 store only, and before 3.5.26 removed members may reappear.
var etcdFloor = version.MustParseSemantic("3.5.26")

// EtcdStep returns why etcd cannot be upgraded from one version to another, empty if it can.
// Versions may have a build suffix as image tags do: 3.6.8-0.
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
		return fmt.Sprintf("etcd cannot be upgraded from %s to %s: the major version differs", from, to), nil
	case minors > 1:
		return fmt.Sprintf("etcd cannot be upgraded from %s to %s: it supports one minor version at a time", from, to), nil
	case minors == 1 && old.Minor() == 5 && old.LessThan(etcdFloor):
		return fmt.Sprintf("etcd %s must first be upgraded to %s or later: "+
			"an older 3.5 can lose or revive members during the upgrade to 3.6", from, etcdFloor), nil
	}
	return "", nil
}

// EtcdStays reports whether etcd is newer than the target. It stays then: Refit never downgrades
// etcd.
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
		return nil, fmt.Errorf("invalid etcd version %q: %w", s, err)
	}
	return v, nil
}
