package text

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

// Backups renders a line for each backup.
func Backups(b *cliv1alpha1.Backups, now time.Time, command string) string {
	if len(b.Backups) == 0 {
		return Clean(fmt.Sprintf("There are no backups of etcd in %s. Take one with `%s backup create`.", b.Cluster, command)) + "\n"
	}
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "BACKUP\tSTATE\tSTORE\tNODE\tAGE\tSIZE\tREVISION\tVERIFIED\tDRILLED\tIDENTITY\tUPGRADE")
	for i := range b.Backups {
		s := &b.Backups[i]
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", Clean(s.Name), backupWord(s), Clean(s.Store), dash(Clean(s.Node)),
			phrase.Duration(now.Sub(s.CreationTime)), dashless(s.Size, size), dashless(s.Revision, func(n int64) string { return phrase.Number(int(n)) }),
			yes(!s.Verified.IsZero()), yes(!s.Drilled.IsZero()), identityWord(s.Identity), dash(Clean(s.Operation)))
	}
	w.Flush()
	lines := strings.Split(out.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// dashless formats a number, and zero as a dash.
func dashless(n int64, format func(int64) string) string {
	if n == 0 {
		return "-"
	}
	return format(n)
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

// identityWord is whether an identity is proven, in a column of the list.
func identityWord(i *cliv1alpha1.BackupIdentity) string {
	switch {
	case i == nil:
		return "-"
	case i.Proven:
		return "proven"
	}
	return "unproven"
}

// backupWord is the state of a backup in lower case.
func backupWord(s *cliv1alpha1.BackupState) string {
	if s.State == cliv1alpha1.BackupFindings {
		return phrase.Count(s.Findings(), "finding")
	}
	return strings.ToLower(Clean(s.State))
}
