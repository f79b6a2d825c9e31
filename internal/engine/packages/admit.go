package packages

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// admitted returns the archives that are not installed yet, once all of them may be.
func (d deb) admitted(ctx context.Context, archives []archive, opts Options) ([]archive, error) {
	before, err := d.states(ctx, namesOf(archives)...)
	if err != nil {
		return nil, err
	}
	left := missing(archives, before)
	if len(left) == 0 {
		return nil, nil
	}
	return left, d.admit(ctx, left, before, opts)
}

// missing returns the archives that are not installed at their version.
func missing(archives []archive, now map[string]state) []archive {
	var left []archive
	for _, a := range archives {
		if s := now[a.name]; !s.installed() || s.version != a.version {
			left = append(left, a)
		}
	}
	return left
}

// admit refuses an installation that must not start.
func (d deb) admit(ctx context.Context, archives []archive, before map[string]state, opts Options) error {
	if opts.Downgrade {
		return nil // these versions ran here, and nothing may block a rollback
	}
	interrupted := false
	for _, a := range archives {
		s := before[a.name]
		interrupted = interrupted || s.interrupted()
		if s.version == "" || s.status == "config-files" || s.status == "not-installed" {
			continue
		}
		lower, err := d.lower(ctx, a.version, s.version)
		if err != nil {
			return err
		}
		if lower {
			return node.ManualIntervention("DowngradeRefused", nil,
				"Create a ClusterRelease with the installed version or a newer one: `refit release create`",
				"%s %s is installed, which is newer than %s", a.name, s.version, a.version)
		}
	}
	if interrupted {
		// It was admitted before it was interrupted, and apt cannot simulate from this state.
		return nil
	}
	return d.resolve(ctx, archives)
}

func (d deb) lower(ctx context.Context, a, b string) (bool, error) {
	_, err := output(exec.CommandContext(ctx, "dpkg", "--compare-versions", a, "lt", b))
	if err != nil && exitCode(err) != 1 {
		return false, wrap(err, "cannot compare versions %s and %s", a, b)
	}
	return err == nil, nil
}

// resolve simulates the installation with apt, without any repository: dpkg itself reports an unmet
// dependency only after it has unpacked the packages.
func (d deb) resolve(ctx context.Context, archives []archive) error {
	if _, err := exec.LookPath("apt-get"); err != nil {
		return nil // a host with dpkg and without apt
	}
	empty, err := os.MkdirTemp("", "refit-packages-")
	if err != nil {
		return fmt.Errorf("cannot create a directory for apt: %w", err)
	}
	defer func() { _ = os.RemoveAll(empty) }()
	args := []string{
		"--simulate", "--no-download", "--no-remove", "--no-install-recommends", "--allow-change-held-packages",
		"-o", "Dir::Etc::SourceList=/dev/null", "-o", "Dir::Etc::SourceParts=/dev/null", "-o", "Dir::State::Lists=" + empty,
		"-o", "Dir::State::Status=" + filepath.Join(d.admin, "status"),
		"-o", "Dir::Cache::pkgcache=", "-o", "Dir::Cache::srcpkgcache=", "-o", "Debug::NoLocking=true",
		"install", "--",
	}
	log, err := output(exec.CommandContext(ctx, "apt-get", append(args, pathsOf(archives)...)...))
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("cannot simulate the installation of %s: %w", text(archives), ctx.Err())
	}
	f := node.ManualIntervention("UnmetDependencies", err,
		"Install the packages that the log names (`apt-get install PACKAGE`), or create a ClusterRelease that has them, then run `refit retry`",
		"the dependencies of %s are not met on this host", text(archives))
	f.LogTail = lastOf(log + logOf(err))
	return f
}
