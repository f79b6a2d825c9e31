package restore

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Run identifies one restore of a cluster. All hosts of the cluster use the same, which is the time
// at which the first one started.
type Run int64 // milliseconds since 1970

// NewRun returns the run that starts now.
func NewRun(now time.Time) Run { return Run(now.UnixMilli()) }

// ParseRun parses a run that another host printed. A run of the future would leave no revisions
// for later restores.
func ParseRun(text string, now time.Time) (Run, error) {
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil || ms < firstRun.UnixMilli() {
		return 0, fmt.Errorf("%q is not a run: copy the command that the other host printed", text)
	}
	if ms > now.Add(24*time.Hour).UnixMilli() {
		return 0, errors.New("the run lies in the future: check the clocks of the hosts")
	}
	return Run(ms), nil
}

func (r Run) String() string { return strconv.FormatInt(int64(r), 10) }

// Token makes the restored members a new cluster: they never connect to members of the former one,
// nor to those with other data.
func (r Run) Token() string { return "refit-restore-" + strconv.FormatInt(r.Revision(), 10) }

// revisionsPerMillisecond is more than etcd can write.
const revisionsPerMillisecond = 1000

// Revision is the revision of the restored data. It depends on nothing but the time, so that it is
// higher than all that clients have seen, even if an earlier restore used a newer backup.
func (r Run) Revision() int64 { return int64(r) * revisionsPerMillisecond }

// Bump raises the revision of a backup to that of the run.
func (r Run) Bump(backup int64) int64 { return r.Revision() - backup }

// bumped reports whether a revision is that of restored data.
func bumped(revision int64) bool {
	return revision > NewRun(firstRun).Revision()
}

// firstRun is before every restore.
var firstRun = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
