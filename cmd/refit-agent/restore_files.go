package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/agent/restore"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

func (a *app) restoreFiles() *cobra.Command {
	var f restoreFlags
	var overwrite []string
	c := &cobra.Command{
		Use:   "files",
		Short: "Restore lost files of this control plane host from a backup",
		Long: `files compares the files of a backup with those of this host: certificates, kubeconfigs, static pod
manifests, the configuration of the kubelet, and files that flags of the API server name. With --yes
it writes those that are missing, with their modes and owners. A file that differs is replaced only
if you name it with --overwrite.

Of a backup that another host took, only the files that all hosts share are written.`,
		Example: `  # Print which files are missing and which differ
  refit-agent restore files --identity refit-backup.key

  # Write the missing files
  refit-agent restore files --identity refit-backup.key --yes`,
		Args: noArguments,
	}
	f.addSource(c.Flags())
	c.Flags().StringArrayVar(&overwrite, "overwrite", nil, "`path` of a file to replace although the host has another one; can be repeated")
	c.Flags().BoolVar(&f.yes, "yes", false, "write; without this flag, files only prints what it would do")
	c.RunE = func(c *cobra.Command, _ []string) error {
		request, err := f.request(time.Now())
		if err != nil {
			return err
		}
		return a.withDesk(c.Context(), f.yes, &request, func(ctx context.Context, desk *restore.Desk) error {
			prepared, err := desk.PrepareFiles(ctx, request, overwrite)
			if err != nil {
				return err
			}
			return a.writeFiles(prepared, f.yes)
		})
	}
	return c
}

// writeFiles writes the files if the operator has confirmed it and nothing blocks.
func (a *app) writeFiles(f *restore.FileRestore, yes bool) error {
	f.Print(a.out)
	switch {
	case len(f.Refusals) > 0:
		return errors.New("the restore is refused; nothing was changed")
	case f.Writes() == 0:
		fmt.Fprintln(a.out, "\nNothing to write.")
		return nil
	case !yes:
		fmt.Fprintln(a.out, "\nNothing was changed. Run the same command with --yes to write the files.")
		return nil
	}
	if err := f.Write(); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "\n%s written.\n%s", phrase.Count(f.Writes(), "file"), afterFiles)
	return nil
}

// afterFiles are the next steps. A container has mounted the directory that was there when it
// started: without a restart, it does not see files in one that was created since.
const afterFiles = `
Next steps:
  1. Restart the kubelet:
       systemctl restart kubelet
  2. Restart the static pods, which do not see a directory that was deleted while they ran:
       mv /etc/kubernetes/manifests /etc/kubernetes/manifests.off
       sleep 60
       mv /etc/kubernetes/manifests.off /etc/kubernetes/manifests
`
