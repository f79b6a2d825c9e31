package installation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/document"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/engine/install"
)

// Installer installs Refit.
type Installer struct {
	Choice
	Backups BackupChoice

	// Archives are the files of images that no registry has.
	Archives []string

	DryRun  bool
	Timeout time.Duration
	Log     io.Writer // progress for the user
	// Changing is called before the cluster is changed.
	Changing func()
	// OwnKey returns the file of the user's own public key, and the key pair if it was created for
	// this. The file is empty if there is none and none may be created.
	OwnKey func(ctx context.Context, create bool) (file string, created *cliv1alpha1.ReleaseKey, err error)
}

// Check validates flags that exclude each other.
func (i *Installer) Check(renders, asJSON bool) error {
	switch {
	case renders && i.DryRun:
		return exit.Usagef("--render and --dry-run exclude each other: --render does not access a cluster")
	case renders && asJSON:
		return exit.Usagef("--render prints YAML only: omit -o json")
	case i.Timeout <= 0:
		return exit.Usagef("--timeout: %s is not a positive duration", i.Timeout)
	}
	return nil
}

// Render writes the objects of an installation, without a cluster, a YAML document each.
func (i *Installer) Render(ctx context.Context, write func([]byte) error) error {
	if _, err := i.useOwnKey(ctx, install.Existing{}, false); err != nil {
		return err
	}
	backups, stores, err := i.prepareBackups(install.Existing{}, false)
	if err != nil {
		return err
	}
	_, objects, err := i.render(install.Existing{Stores: stores})
	if err != nil {
		return err
	}
	if backups == nil {
		fmt.Fprintln(i.Log, "Warning: there is no --backup-recipient: the manifests have no BackupStore, without which an upgrade does not start")
	} else {
		more, err := install.RenderBackups(backups.Recipients)
		if err != nil {
			return err
		}
		objects = append(objects, more...)
	}
	for _, object := range objects {
		out, err := document.YAML(object.Object)
		if err != nil {
			return err
		}
		if err := write(append([]byte("---\n"), out...)); err != nil {
			return err
		}
	}
	return nil
}

func (i *Installer) render(existing install.Existing) (install.Options, []*unstructured.Unstructured, error) {
	options, err := i.options(existing)
	if err != nil {
		return options, nil, err
	}
	objects, err := install.Render(options)
	if errors.Is(err, install.ErrNoKeys) {
		err = exit.Usagef("%w. Pass the public key with --release-key, or create your own key with `refit release key create`", err)
	}
	if err == nil && !install.HasSources(options.Settings) {
		fmt.Fprintln(i.Log, "Note: without --source, hosts only get the files of ClusterReleases that were created with --online")
	}
	return options, objects, err
}

// Install installs Refit and waits until it runs. It may return both a result and an error: not
// everything runs yet.
func (i *Installer) Install(ctx context.Context, cluster Cluster, name string) (*cliv1alpha1.Install, error) {
	existing, err := i.existing(ctx, cluster)
	if err != nil {
		return nil, err
	}
	newKey, err := i.useOwnKey(ctx, existing, !i.DryRun) // which may prompt for a passphrase
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, i.Timeout)
	defer cancel()
	options, _, err := i.render(existing)
	if err == nil {
		err = i.checkArchives(options)
	}
	if err != nil {
		return nil, err // before an identity is created
	}
	var backups *cliv1alpha1.InstallBackups
	if backups, options.Stores, err = i.prepareBackups(existing, !i.DryRun); err != nil {
		return nil, err
	}
	objects, err := install.Render(options)
	if err != nil {
		return nil, err
	}
	result := installOf(name, i.DryRun, existing, options)
	result.Backups, result.NewKey = backups, newKey
	report := &reporter{out: i.Log, done: "installed", archives: i.Archives}
	if i.DryRun {
		report.line(fmt.Sprintf("Dry run: comparing %d objects with %s", len(objects), name))
	} else {
		i.Changing()
		report.line(fmt.Sprintf("Applying %d objects to %s", len(objects), name))
	}
	changes, err := cluster.Apply(ctx, objects, options.Version, i.DryRun, install.Callbacks{})
	if err != nil {
		return nil, late(ctx, err)
	}
	result.Objects = objectsOf(changes)
	if i.DryRun {
		return result, nil
	}
	if backups != nil {
		added, err := cluster.AddBackups(ctx, backups.Recipients)
		if err != nil {
			return nil, late(ctx, err)
		}
		result.Objects = append(result.Objects, objectsOf(added)...)
	}
	report.line("Waiting for the nodes")
	return i.follow(ctx, cluster, objects, report, result)
}

// existing reads what is installed, and fails during an operation: before a key is created, or a
// change is announced. The prompt that follows has no timeout.
func (i *Installer) existing(ctx context.Context, cluster Cluster) (install.Existing, error) {
	ctx, cancel := context.WithTimeout(ctx, i.Timeout)
	defer cancel()
	existing, err := cluster.Existing(ctx)
	if err == nil {
		err = cluster.CheckIdle(ctx)
	}
	return existing, late(ctx, err)
}

// useOwnKey pins the user's own key if there is neither one of the user's choice nor one that is
// pinned already. It returns the key pair if it was created for this.
func (i *Installer) useOwnKey(ctx context.Context, existing install.Existing, create bool) (*cliv1alpha1.ReleaseKey, error) {
	if len(i.keys) > 0 || len(existing.Keys) > 0 {
		return nil, nil //nolint:nilnil // nothing was created
	}
	file, created, err := i.OwnKey(ctx, create)
	if err != nil || file == "" {
		return nil, err
	}
	if created != nil { // also if the installation fails afterwards
		copied := "a copy"
		if created.Keyring {
			copied = "a copy of it and of its passphrase, which is in your keyring,"
		}
		fmt.Fprintf(i.Log, "Created the key %s: hosts install only what it signed. Store %s in a safe place.\n", created.PrivateKey, copied)
	}
	i.KeyFiles = []string{file}
	return created, i.Read(ctx)
}

// follow waits until everything runs.
func (i *Installer) follow(
	ctx context.Context, cluster Cluster, objects []*unstructured.Unstructured, report *reporter, result *cliv1alpha1.Install,
) (*cliv1alpha1.Install, error) {
	progress, err := cluster.Follow(ctx, objects, report.callbacks())
	if err != nil && !errors.Is(err, install.ErrNotDone) {
		return nil, late(ctx, err)
	}
	result.Nodes, result.Complete = hostsOf(progress.Nodes), err == nil
	result.Controller, result.Components = controllerOf(progress.Controller), controllerOf(progress.Components)
	if err != nil {
		err = exit.TimeoutError{Err: fmt.Errorf("not everything is running after %s: fix the cause, or increase --timeout", i.Timeout)}
	}
	return result, err
}
