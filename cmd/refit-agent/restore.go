package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent"
	"github.com/refit-dev/refit/internal/agent/restore"
	"github.com/refit-dev/refit/internal/upgrade/backup"
	core "github.com/refit-dev/refit/internal/upgrade/restore"
)

// restoreFlags are the flags of `restore`.
type restoreFlags struct {
	backup, digest, identity, store, run string
	after, without, waive                []string
	list, cancel, yes                    bool
}

func (a *app) restore() *cobra.Command {
	var f restoreFlags
	c := &cobra.Command{
		Use:   "restore",
		Short: "Restore etcd on this control plane host from a backup, without the API",
		Long: `restore gives this control plane host its etcd data back after it was lost. It fetches, decrypts and
verifies a backup, observes etcd and prints what it would do and what is lost. With --yes it stops
the API server and etcd, restores the data, and starts both. It stops the service refit-agent, and
starts it again at the end. The old data of etcd is moved aside and never deleted.

If the other members of etcd still have a quorum, nothing is restored: this host gets a new member
that copies their data, without --identity if the API serves. If all members are lost, run the command on one host, then on each other
host the command that it prints. After an interruption, run the same command again. Until the API
server has started with the restored data, --cancel restores the old data.`,
		Example: `  # Print what would be restored, and what is lost
  refit-agent restore --identity refit-backup.key

  # Restore the newest backup that this host has recorded
  refit-agent restore --identity refit-backup.key --yes

  # Replace the etcd member of this host while the others serve
  refit-agent restore --yes

  # Cancel a restore that was interrupted
  refit-agent restore --cancel --yes`,
		Args: noArguments,
	}
	flags := c.Flags()
	f.addSource(flags)
	flags.StringVar(&f.run, "run", "", "`run` of the restore that began on another host")
	flags.StringArrayVar(&f.after, "after", nil, "`host` that was restored before this one; can be repeated")
	flags.StringArrayVar(&f.without, "without", nil, "`host` that does not come back, and is left out of the restored etcd; can be repeated")
	flags.BoolVar(&f.list, "list", false, "list the backups that this host has recorded")
	flags.BoolVar(&f.cancel, "cancel", false, "cancel the unfinished restore of this host and restore the old data")
	flags.BoolVar(&f.yes, "yes", false, "restore or cancel; without this flag, restore only prints what it would do")
	for _, other := range []string{"cancel", "yes", "backup", "digest", "identity", "store", "waive", "run", "after", "without"} {
		c.MarkFlagsMutuallyExclusive("list", other)
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		if f.list {
			return a.listRecords()
		}
		return a.runRestore(c.Context(), f)
	}
	c.AddCommand(a.restoreFiles())
	return c
}

// addSource adds the flags that select a backup.
func (f *restoreFlags) addSource(flags *pflag.FlagSet) {
	flags.StringVar(&f.backup, "backup", "", "`backup` to restore: UID/ATTEMPT or a name; default: the newest recorded one that is not deleted")
	flags.StringVar(&f.digest, "digest", "", "`digest` of the backup's manifest; default: the recorded one")
	flags.StringVar(&f.identity, "identity", "", "`file` with the age identity of the backups")
	flags.StringVar(&f.store, "store", "", "`file` with the BackupStore; default: the recorded one")
	flags.StringArrayVar(&f.waive, "waive", nil, "`reason` of a refusal to waive, by name; can be repeated")
}

func (a *app) runRestore(ctx context.Context, f restoreFlags) error {
	request, err := f.request(time.Now())
	if err != nil {
		return err
	}
	return a.withDesk(ctx, f.yes, &request, func(ctx context.Context, desk *restore.Desk) error {
		if f.cancel {
			return a.cancelRestore(ctx, desk, f.yes)
		}
		prepared, err := desk.Prepare(ctx, request)
		if ctx.Err() != nil {
			return errors.New("interrupted; nothing was changed")
		}
		if err != nil {
			return err
		}
		prepared.Print(a.out)
		return a.confirmed(ctx, prepared, f.yes)
	})
}

// withDesk prepares restores on this host. With yes, the service is stopped meanwhile.
func (a *app) withDesk(ctx context.Context, yes bool, request *restore.Request, use func(context.Context, *restore.Desk) error) (err error) {
	if err := needsRoot("restore"); err != nil {
		return err
	}
	s, err := a.load()
	if err != nil {
		return err
	}
	if yes {
		// A lost terminal must not stop a restore while the control plane is down.
		signal.Ignore(syscall.SIGHUP, syscall.SIGPIPE)
		service := &systemdService{}
		defer service.Close()
		if err := service.Stop(ctx); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, service.startIfInstalled(context.WithoutCancel(ctx))) }()
	}
	desk, closeDesk, err := agent.RestoreDesk(ctx, s, version, slog.New(progressHandler{a.err}), yes, func(message string) { fmt.Fprintln(a.err, message) })
	if err != nil {
		return err
	}
	defer closeDesk()
	if request.Host, err = agent.RestoreHost(s); err != nil {
		return err
	}
	return use(ctx, desk)
}

// confirmed executes a restore that the operator has confirmed and nothing blocks.
func (a *app) confirmed(ctx context.Context, p restore.Prepared, yes bool) error {
	if len(p.Decision.Refusals) > 0 || !yes {
		if err := p.Discard(); err != nil {
			return err
		}
		if len(p.Decision.Refusals) > 0 {
			return errors.New("the restore is refused; nothing was changed")
		}
		if p.Continues {
			fmt.Fprintln(a.out, "\nThis restore is unfinished. Run the same command with --yes to continue it, or cancel it with refit-agent restore --cancel.")
			return nil
		}
		fmt.Fprintln(a.out, "\nNothing was changed. Run the same command with --yes to restore.")
		return nil
	}
	if err := p.Restore.Begin(); err != nil {
		return err
	}
	defer p.Restore.Close()
	start := time.Now()
	err := p.Restore.Execute(ctx)
	if err != nil && !errors.Is(err, restore.ErrPending) {
		return a.unfinished(ctx, p.Restore.Site, err)
	}
	fmt.Fprintf(a.out, "\nDone in %.0f s.\n", time.Since(start).Seconds())
	p.PrintResult(a.out, err != nil)
	return nil
}

// cancelRestore cancels the open restore if the operator has confirmed it.
func (a *app) cancelRestore(ctx context.Context, desk *restore.Desk, yes bool) error {
	c, err := desk.PrepareCancel(ctx)
	if err != nil {
		return err
	}
	c.Print(a.out)
	if c.Final != "" {
		return errors.New("the restore cannot be canceled; nothing was changed")
	}
	if !yes {
		fmt.Fprintln(a.out, "\nNothing was changed. Run the same command with --yes to cancel.")
		return nil
	}
	if err := c.Restore.Begin(); err != nil {
		return err
	}
	defer c.Restore.Close()
	if err := c.Restore.Cancel(ctx); err != nil {
		return a.unfinished(ctx, c.Restore.Site, err)
	}
	c.PrintResult(a.out)
	return nil
}

// unfinished prints how an open restore continues after an error, and returns the error. The
// control plane of the host may be down until then.
func (a *app) unfinished(ctx context.Context, site restore.Site, err error) error {
	if open, unreadable := site.InProgress(); unreadable == nil && open != nil {
		fmt.Fprintln(a.err)
		open.Print(a.err)
	}
	if ctx.Err() != nil {
		return errors.New("interrupted; the restore is unfinished, and the control plane of this host can be down until you continue or cancel it")
	}
	return err
}

func (f restoreFlags) request(now time.Time) (restore.Request, error) {
	r := restore.Request{Backup: f.backup, Digest: f.digest, After: f.after, Without: f.without, Waived: f.waive}
	if err := f.check(); err != nil {
		return r, err
	}
	var err error
	if r.Identities, err = readIdentities(f.identity); err != nil {
		return r, err
	}
	if f.run != "" {
		if r.Run, err = core.ParseRun(f.run, now); err != nil {
			return r, usageError{err}
		}
	}
	if f.store != "" {
		if r.Store, err = readStore(f.store); err != nil {
			return r, err
		}
		r.Options = append(r.Options, "--store="+f.store)
	}
	if f.identity != "" {
		r.Options = append(r.Options, "--identity="+f.identity)
	}
	for _, name := range f.without {
		r.Options = append(r.Options, "--without="+name)
	}
	for _, reason := range f.waive {
		r.Options = append(r.Options, "--waive="+reason)
	}
	return r, nil
}

// check rejects values that nothing matches.
func (f restoreFlags) check() error {
	for _, reason := range f.waive {
		if !slices.Contains(core.Waivable(), reason) {
			return usagef("--waive: %q is not one of %s", reason, strings.Join(core.Waivable(), ", "))
		}
	}
	if digest, ok := backup.ManifestDigest(backup.ManifestName(f.digest)); f.digest != "" && (!ok || digest != f.digest) {
		return usagef("--digest: %q is not sha256: with 64 hexadecimal digits", f.digest)
	}
	return nil
}

// readStore reads the BackupStore in a file.
func readStore(file string) (*refitv1alpha1.BackupStoreSpec, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("cannot read the BackupStore: %w", err)
	}
	var found refitv1alpha1.BackupStore
	if err := yaml.Unmarshal(text, &found); err != nil {
		return nil, fmt.Errorf("cannot read the BackupStore in %s: %w", file, err)
	}
	return &found.Spec, nil
}

func (a *app) listRecords() error {
	s, err := a.load()
	if err != nil {
		return err
	}
	records, err := agent.BackupRecords(s)
	if err != nil {
		return err
	}
	if len(records.Backups) == 0 {
		fmt.Fprintln(a.out, "No backup is recorded on this host.")
		return nil
	}
	table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "BACKUP\tNAME\tTIME\tSTORE\tNODE\tREVISION\tDELETED")
	for _, r := range records.Backups {
		deleted := "-"
		if !r.Deleted.IsZero() {
			deleted = r.Deleted.Format(time.DateTime)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%d\t%s\n", r.ID(), r.Name, r.Time.Format(time.DateTime), r.Store, cmp.Or(r.Node, "-"), r.Revision, deleted)
	}
	return table.Flush()
}
