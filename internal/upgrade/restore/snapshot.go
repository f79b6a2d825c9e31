package restore

import (
	"strconv"
	"strings"
)

// Snapshot returns the arguments of etcdutl that restore the data of the member of this host from a
// snapshot into a directory.
//
// The bumped revision and the compaction mark make every watch of a client fail as too old, so that
// informers list again. Without them, a client would miss the difference between the lost objects
// and those of the backup.
func Snapshot(p Plan, file, dir string) []string {
	var all []string
	peers := ""
	for _, m := range p.Members {
		for _, url := range m.PeerURLs {
			all = append(all, m.Name+"="+url)
		}
		if m.Name == p.Member {
			peers = strings.Join(m.PeerURLs, ",")
		}
	}
	return []string{
		"snapshot", "restore", file,
		"--data-dir=" + dir,
		"--name=" + p.Member,
		"--initial-cluster=" + strings.Join(all, ","),
		"--initial-cluster-token=" + p.Run.Token(),
		"--initial-advertise-peer-urls=" + peers,
		"--bump-revision=" + strconv.FormatInt(p.Run.Bump(p.Revision), 10),
		"--mark-compacted",
	}
}
