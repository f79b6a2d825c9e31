package packages

import (
	"context"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// careful are the options of each call that configures: no question, no change of configuration that somebody made, no shortcut around fsync, whatever
// /etc/dpkg says.
var careful = []string{"--refuse-confnew,confdef,confask,confmiss,unsafe-io", "--force-confold"}

// Torn is the reason of a failure that only installing the packages again can mend, in the new or the old version.
const Torn = "PackagesTorn"

// Mend configures what was unpacked. What was cut off while it was unpacked needs its file again: Install, of the new version or of the old one, does that.
func (d deb) Mend(ctx context.Context) error {
	release, err := d.lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	ran := d.dpkg(ctx, "", append(append([]string{}, careful...), "--configure", "--pending")...)
	if ctx.Err() != nil {
		return wrap(ctx.Err(), "finishing what dpkg had begun")
	}
	all, err := d.states(ctx)
	if err != nil {
		return err
	}
	if torn := sortedNames(all, state.torn); len(torn) > 0 {
		f := node.HostBroken(Torn, ran, "see dpkg --audit on the host; installing these packages again, in the new or the old version, mends them",
			"packages are not wholly installed: %s", strings.Join(torn, ", "))
		f.LogTail = logOf(ran)
		return f
	}
	if ran != nil {
		return d.failed(ran, "MendFailed", "finishing what dpkg had begun")
	}
	return nil
}

// failed tells how a call of dpkg failed.
func (d deb) failed(err error, reason, doing string) error {
	log := logOf(err)
	if strings.Contains(log, "locked by another process") {
		f := node.Transient("PackagesLocked", err, "wait until the other package manager has ended", "%s: another process locked dpkg", doing)
		f.LogTail = log
		return f
	}
	remedy := "see the log, mend the cause on the host (dpkg --audit tells what is open), then say refit retry"
	if strings.Contains(log, "No space left on device") {
		reason, remedy = "DiskFull", "make room on the host's disk, then say refit retry"
	}
	f := node.NeedsPerson(reason, err, remedy, "%s", doing)
	f.LogTail = log
	return f
}
