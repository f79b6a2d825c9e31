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

	DryRun  bool
	Timeout time.Duration
	Log     io.Writer // progress for the user
	// Changing is called before the cluster is changed.
	Changing func()
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
func (i *Installer) Render(write func([]byte) error) error {
	_, stores, err := i.prepareBackups(install.Existing{}, false)
	if err != nil {
		return err
	}
	_, objects, err := i.render(install.Existing{Stores: stores})
	if err != nil {
		return err
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
		err = exit.Usagef("%w. Pass the public key with --release-key", err)
	}
	if err == nil && !install.HasSources(options.Settings) {
		fmt.Fprintln(i.Log, "Warning: there is no --source: hosts find only the files of ClusterReleases that were created with --online")
	}
	return options, objects, err
}

// Install installs Refit and waits until it runs. It may return both a result and an error: not
// everything runs yet.
func (i *Installer) Install(ctx context.Context, cluster Cluster, name string) (*cliv1alpha1.Install, error) {
	ctx, cancel := context.WithTimeout(ctx, i.Timeout)
	defer cancel()
	existing, err := cluster.Existing(ctx)
	if err != nil {
		return nil, err
	}
	options, _, err := i.render(existing)
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
	result.Backups = backups
	report := &reporter{out: i.Log, done: "placed"}
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

// follow waits until everything runs.
func (i *Installer) follow(
	ctx context.Context, cluster Cluster, objects []*unstructured.Unstructured, report *reporter, result *cliv1alpha1.Install,
) (*cliv1alpha1.Install, error) {
	progress, err := cluster.Follow(ctx, objects, report.callbacks())
	if err != nil && !errors.Is(err, install.ErrNotDone) {
		return nil, late(ctx, err)
	}
	result.Nodes, result.Controller, result.Complete = hostsOf(progress.Nodes), controllerOf(progress.Controller), err == nil
	if err != nil {
		err = exit.TimeoutError{Err: fmt.Errorf("not everything is running after %s: fix the cause, or increase --timeout", i.Timeout)}
	}
	return result, err
}
