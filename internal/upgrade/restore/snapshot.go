package restore

import (
	"strconv"
	"strings"
)

// Snapshot returns the arguments of etcdutl that restore the data of one member from a snapshot
// into a directory.
//
// The bumped revision and the compaction mark make every watch of a client fail as too old, so that
// informers list again. Without them, a client would miss the difference between the lost objects
// and those of the backup.
func Snapshot(run Run, file, dir, member string, members []Member) []string {
	var all []string
	peers := ""
	for _, m := range members {
		for _, url := range m.PeerURLs {
			all = append(all, m.Name+"="+url)
		}
		if m.Name == member {
			peers = strings.Join(m.PeerURLs, ",")
		}
	}
	return []string{
		"snapshot", "restore", file,
		"--data-dir=" + dir,
		"--name=" + member,
		"--initial-cluster=" + strings.Join(all, ","),
		"--initial-cluster-token=" + run.Token(),
		"--initial-advertise-peer-urls=" + peers,
		"--bump-revision=" + strconv.FormatInt(run.Bump(), 10),
		"--mark-compacted",
	}
}
