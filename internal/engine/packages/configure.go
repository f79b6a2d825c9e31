package packages

import (
	"context"
	"slices"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// safeOptions belong to each dpkg call that runs maintainer scripts, whatever /etc/dpkg sets: no
// question, no change to configuration files that the operator edited, no skipped fsync, and no
// trigger of another package (see triggers.go).
var safeOptions = []string{
	"--no-triggers", "--refuse-confnew,confdef,confask,confmiss,unsafe-io", "--force-confold",
}

// HalfInstalled is the reason of a failure that only another installation of the packages fixes,
// of the new version or of the old one.
const HalfInstalled = "PackagesHalfInstalled"

// Configure names each package instead of `--pending`, which would also run the scripts of packages
// that Refit does not handle. A package whose unpacking was interrupted needs its file: Install
// fixes it.
func (d deb) Configure(ctx context.Context, names []string) error {
	release, err := d.lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	before, err := d.states(ctx, names...)
	if err != nil {
		return err
	}
	var ran error
	if pending := sortedNames(before, state.unconfigured); len(pending) > 0 {
		ran = d.dpkg(ctx, "", slices.Concat(safeOptions, []string{"--configure"}, pending)...)
	}
	if ctx.Err() != nil {
		return wrap(ctx.Err(), "cannot configure packages")
	}
	after, err := d.states(ctx, names...)
	if err != nil {
		return err
	}
	if broken := sortedNames(after, state.interrupted); len(broken) > 0 {
		f := node.HostBroken(HalfInstalled, ran,
			"Run `dpkg --audit` on the host; reinstall these packages, in the new or the old version",
			"packages are half-installed: %s", strings.Join(broken, ", "))
		f.LogTail = logOf(ran)
		return f
	}
	if ran != nil {
		return d.failed(ran, "ConfigureFailed", "cannot configure packages")
	}
	return nil
}

// failed is the failure of a dpkg call.
func (d deb) failed(err error, reason, message string) error {
	log := logOf(err)
	if strings.Contains(log, "locked by another process") {
		f := node.Transient("PackagesLocked", err, "Wait until the other package manager has ended",
			"%s: another process has locked dpkg", message)
		f.LogTail, f.NoRollback = log, true // dpkg locks before its first change
		return f
	}
	remedy := "Read the log, fix the cause on the host (`dpkg --audit` lists unfinished packages), then run `refit retry`"
	if strings.Contains(log, "No space left on device") {
		reason, remedy = "DiskFull", "Free disk space on the host, then run `refit retry`"
	}
	f := node.ManualIntervention(reason, err, remedy, "%s", message)
	f.LogTail = log
	return f
}
