package packages

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// checkOthers refuses to start while dpkg has unfinished work on packages that Refit does not
// handle: their scripts must not run in the agent's sandbox, and an installation on top of them can
// fail halfway.
func (d deb) checkOthers(ctx context.Context, own []string) error {
	all, err := d.list(ctx)
	if err != nil {
		return err
	}
	var unfinished, broken []string
	for _, s := range all {
		if slices.Contains(own, s.name) || !s.unfinished() {
			continue
		}
		unfinished = append(unfinished, fmt.Sprintf("%s (%s)", s.binary, s.text()))
		if s.status == "half-installed" || s.flag != "ok" {
			broken = append(broken, s.binary)
		}
	}
	if len(unfinished) == 0 {
		return nil
	}
	remedy := "Run `dpkg --configure -a` as root on the host"
	if len(broken) > 0 {
		remedy += " and `apt-get install --reinstall " + strings.Join(broken, " ") + "`"
	}
	return node.ManualIntervention("OtherPackagesUnfinished", nil, remedy+", then run `refit retry`",
		"dpkg has not finished other packages on this host: %s", strings.Join(unfinished, ", "))
}
