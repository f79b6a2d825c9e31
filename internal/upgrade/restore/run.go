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
	if err != nil || ms < time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli() {
		return 0, fmt.Errorf("%q is not a run: copy the command that the other host printed", text)
	}
	if ms > now.Add(24*time.Hour).UnixMilli() {
		return 0, errors.New("the run lies in the future: check the clocks of the hosts")
	}
	return Run(ms), nil
}

func (r Run) String() string { return strconv.FormatInt(int64(r), 10) }

// Token makes the restored members a new cluster: they never connect to members of the former one,
// nor to those of another restore of the same backup.
func (r Run) Token() string { return "refit-restore-" + r.String() }

// Bump is added to the revision of the backup. It is larger than in any earlier run, so the
// revisions of a restored cluster are higher than all that clients have seen.
func (r Run) Bump() int64 { return int64(r) }
