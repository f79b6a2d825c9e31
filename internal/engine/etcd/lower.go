package etcd

import (
	"strconv"
	"strings"
)

// MayLower says whether a binary of this version starts on the member's data. One that is older than what the members have agreed on panics,
// and they agree on more within seconds once all of them are new. Where it is not known what they agreed on, the answer is no.
func MayLower(local Member, to string) bool {
	agreedMajor, agreed, ok := minor(local.ClusterVersion)
	major, wanted, fine := minor(to)
	return ok && fine && major == agreedMajor && wanted >= agreed
}

// minor reads 3.6.8, v3.6.8 and 3.6.8-0.
func minor(version string) (major, minor int, ok bool) {
	parts := strings.Split(strings.TrimPrefix(version, "v"), ".")
	if len(parts) < 3 {
		return 0, 0, false
	}
	major, errMajor := strconv.Atoi(parts[0])
	minor, errMinor := strconv.Atoi(parts[1])
	return major, minor, errMajor == nil && errMinor == nil
}
