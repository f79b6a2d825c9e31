package text

import (
	"fmt"
	"strings"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
)

// Restore renders the situation, what is lost, and the commands in their order.
func Restore(r *cliv1alpha1.Restore) string {
	var out strings.Builder
	fmt.Fprintf(&out, "Backup:     %s, revision %d, of %s\n", Clean(r.Backup), r.Revision, r.Time.Format(time.DateTime+" UTC"))
	if !r.Deleted.IsZero() {
		fmt.Fprintf(&out, "Deleted:    retention marked it as deleted on %s; the commands fail, and change nothing, if its objects are gone\n",
			moment(r.Deleted))
	}
	fmt.Fprintf(&out, "Situation:  %s: %s\n", r.Situation, r.Description)
	if r.Serving {
		fmt.Fprintln(&out, "Warning:    the API reports that every member of etcd serves. A restore discards all changes since the backup.")
		fmt.Fprintln(&out, "            If a member was lost within the last minutes, run `refit-agent restore` on its host first: it observes etcd")
		fmt.Fprintln(&out, "            itself, prints its plan and changes nothing.")
	}
	if len(r.Lost) > 0 {
		fmt.Fprintln(&out, "\nLost:")
	}
	for _, lost := range r.Lost {
		fmt.Fprintln(&out, "  "+lost)
	}
	fmt.Fprintln(&out, "\nNext steps:")
	if r.Identity != "" {
		fmt.Fprintf(&out, "  - Copy the identity of the backups to %s on each of these nodes.\n", r.Identity)
	}
	if c := r.Copy; c != nil {
		fmt.Fprintf(&out, "  - Only %s has the backup, unless the directory is shared storage: copy %s from there to the same path on %s.\n",
			Clean(c.From), Clean(c.Directory), Clean(strings.Join(c.To, ", ")))
	}
	fmt.Fprintln(&out, "  - Run these commands there as root, each after the one before has ended. Without --yes, a command prints its plan.")
	for _, c := range r.Commands {
		fmt.Fprintf(&out, "\nOn %s:\n  %s\n", Clean(c.Node), Clean(c.Command))
	}
	return out.String()
}
