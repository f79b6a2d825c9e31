package etcd

import (
	"strconv"
	"strings"
)

// CanDowngrade reports whether a binary of this version starts on the data of the member. One that
// is older than the cluster version panics, and the members raise that version within seconds once
// all of them are new. If the cluster version is unknown, it returns false.
func CanDowngrade(local Member, to string) bool {
	clusterMajor, clusterMinor, ok := minor(local.ClusterVersion)
	major, wanted, okTo := minor(to)
	return ok && okTo && major == clusterMajor && wanted >= clusterMinor
}

// minor parses 3.6.8, v3.6.8 and 3.6.8-0.
func minor(version string) (major, minor int, ok bool) {
	parts := strings.Split(strings.TrimPrefix(version, "v"), ".")
	if len(parts) < 3 {
		return 0, 0, false
	}
	major, errMajor := strconv.Atoi(parts[0])
	minor, errMinor := strconv.Atoi(parts[1])
	return major, minor, errMajor == nil && errMinor == nil
}
