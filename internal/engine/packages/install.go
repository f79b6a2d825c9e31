package packages

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// archive is a package file and what it says of itself.
type archive struct{ path, name, version, arch string }

// Install is done when each package is whole, at its file's version, and held as it was. dpkg drops a hold when it installs, so a kill between the two
// is mended by the next call. Units that changed are not known to systemd yet: the caller reloads it and restarts what it must.
func (d deb) Install(ctx context.Context, files []string, opts Options) error {
	archives, release, err := d.begin(ctx, files, opts)
	if err != nil {
		return err
	}
	defer release()
	missing, err := d.admitted(ctx, archives, opts)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		args := slices.Concat(safeOptions, []string{"--install"}, pathsOf(missing))
		if err := d.dpkg(ctx, "", args...); err != nil {
			if ctx.Err() != nil {
				return fmt.Errorf("installing %s: %w", text(missing), ctx.Err())
			}
			return d.failed(err, "InstallFailed", "installing "+text(missing))
		}
	}
	return d.finish(ctx, archives, opts)
}

// Check also waits for another package manager: what it would see meanwhile is neither before nor after.
func (d deb) Check(ctx context.Context, files []string, opts Options) error {
	archives, release, err := d.begin(ctx, files, opts)
	if err != nil {
		return err
	}
	defer release()
	if !opts.Downgrade { // nothing may block a rollback
		if err := d.checkOthers(ctx, namesOf(archives)); err != nil {
			return err
		}
	}
	_, err = d.admitted(ctx, archives, opts)
	return err
}

// begin reads the files and takes the lock.
func (d deb) begin(ctx context.Context, files []string, opts Options) (archives []archive, release func(), err error) {
	if err := checkNames(opts.Hold); err != nil {
		return nil, nil, err
	}
	if archives, err = readArchives(ctx, files); err != nil {
		return nil, nil, err
	}
	release, err = d.lock(ctx)
	return archives, release, err
}

// admitted are those that are to be installed, and may be.
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

// missing are those that are not there wholly, at this version.
func missing(archives []archive, now map[string]state) []archive {
	var left []archive
	for _, a := range archives {
		if s := now[a.name]; !s.installed() || s.version != a.version {
			left = append(left, a)
		}
	}
	return left
}

// admit refuses what must not be begun.
func (d deb) admit(ctx context.Context, archives []archive, before map[string]state, opts Options) error {
	if opts.Downgrade {
		return nil // What these packages need was there when they were, and nothing may stand in the way back.
	}
	torn := false
	for _, a := range archives {
		s := before[a.name]
		torn = torn || s.interrupted()
		if s.version == "" || s.status == "config-files" || s.status == "not-installed" {
			continue
		}
		lower, err := d.lower(ctx, a.version, s.version)
		if err != nil {
			return err
		}
		if lower {
			return node.ManualIntervention("DowngradeRefused", nil, "make a ClusterRelease with the version that is installed, or a newer one",
				"%s %s is installed, which is newer than %s", a.name, s.version, a.version)
		}
	}
	if torn {
		return nil // It had been admitted, was begun and cut off. apt cannot think about such a state.
	}
	return d.resolve(ctx, archives)
}

func (d deb) lower(ctx context.Context, a, b string) (bool, error) {
	_, err := output(exec.CommandContext(ctx, "dpkg", "--compare-versions", a, "lt", b))
	if err != nil && exitCode(err) != 1 {
		return false, wrap(err, "comparing versions")
	}
	return err == nil, nil
}

// resolve lets apt say whether the packages fit what is installed, in a world that has nothing else: dpkg would find out when it is too late.
func (d deb) resolve(ctx context.Context, archives []archive) error {
	if _, err := exec.LookPath("apt-get"); err != nil {
		return nil // A host with dpkg and without apt: dpkg itself checks, later.
	}
	empty, err := os.MkdirTemp("", "refit-packages-")
	if err != nil {
		return fmt.Errorf("making a directory for apt: %w", err)
	}
	defer func() { _ = os.RemoveAll(empty) }()
	args := []string{
		"--simulate", "--no-download", "--no-remove", "--no-install-recommends", "--allow-change-held-packages",
		"-o", "Dir::Etc::SourceList=/dev/null", "-o", "Dir::Etc::SourceParts=/dev/null", "-o", "Dir::State::Lists=" + empty,
		"-o", "Dir::State::Status=" + filepath.Join(d.admin, "status"),
		"-o", "Dir::Cache::pkgcache=", "-o", "Dir::Cache::srcpkgcache=", "-o", "Debug::NoLocking=true",
		"install", "--",
	}
	why, err := output(exec.CommandContext(ctx, "apt-get", append(args, pathsOf(archives)...)...))
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("asking apt whether %s fit: %w", text(archives), ctx.Err())
	}
	f := node.ManualIntervention("PackagesDoNotFit", err, "install on the host what the log names, or make a ClusterRelease that has it, then say refit retry",
		"%s cannot be installed beside what this host has", text(archives))
	f.LogTail = lastOf(why + logOf(err))
	return f
}

// finish processes triggers, holds what was held, and looks whether all is as it should be.
func (d deb) finish(ctx context.Context, archives []archive, opts Options) error {
	if err := d.processTriggers(ctx, namesOf(archives)); err != nil {
		return err
	}
	now, err := d.states(ctx, namesOf(archives)...)
	if err != nil {
		return err
	}
	if left := missing(archives, now); len(left) > 0 {
		return node.HostBroken("NotInstalled", nil, "see dpkg --audit and /var/log/dpkg.log on the host", "dpkg did not bring %s to be installed", text(left))
	}
	var selections strings.Builder
	for _, a := range archives {
		if slices.Contains(opts.Hold, a.name) && now[a.name].want != "hold" {
			fmt.Fprintf(&selections, "%s hold\n", a.name)
		}
	}
	if selections.Len() == 0 {
		return nil
	}
	if err := d.dpkg(ctx, selections.String(), "--set-selections"); err != nil {
		return d.failed(err, "HoldFailed", "holding packages again")
	}
	return nil
}

// readArchives asks each file what it is. The paths become absolute, because a program could read others as options.
func readArchives(ctx context.Context, files []string) ([]archive, error) {
	var archives []archive
	for _, file := range files {
		path, err := filepath.Abs(file)
		if err != nil {
			return nil, fmt.Errorf("finding %s: %w", file, err)
		}
		a, err := readArchive(ctx, path)
		if err != nil {
			return nil, err
		}
		if slices.Contains(namesOf(archives), a.name) {
			return nil, node.ManualIntervention("PackageTwice", nil, "make a ClusterRelease that has each package once for each platform",
				"there are two files of package %s", a.name)
		}
		archives = append(archives, a)
	}
	return archives, nil
}

func readArchive(ctx context.Context, path string) (archive, error) {
	if _, err := os.Stat(path); err != nil {
		return archive{}, fmt.Errorf("looking for a package: %w", err)
	}
	out, err := output(exec.CommandContext(ctx, "dpkg-deb", "--show", `--showformat=${Package}\t${Version}\t${Architecture}`, path))
	if err != nil {
		if ctx.Err() != nil {
			return archive{}, ctx.Err()
		}
		return archive{}, node.ManualIntervention("PackageUnreadable", err, "fetch the file again", "%s is no package that dpkg can read", path)
	}
	f := strings.Split(strings.TrimSpace(out), "\t")
	if len(f) != 3 || checkNames(f[:1]) != nil {
		return archive{}, node.ManualIntervention("PackageUnreadable", errors.New(out), "fetch the file again", "%s is no package that dpkg can read", path)
	}
	return archive{path: path, name: f[0], version: f[1], arch: f[2]}, nil
}

func namesOf(archives []archive) []string {
	names := make([]string, 0, len(archives))
	for _, a := range archives {
		names = append(names, a.name)
	}
	return names
}

func pathsOf(archives []archive) []string {
	paths := make([]string, 0, len(archives))
	for _, a := range archives {
		paths = append(paths, a.path)
	}
	return paths
}

func text(archives []archive) string {
	all := make([]string, 0, len(archives))
	for _, a := range archives {
		all = append(all, a.name+" "+a.version)
	}
	return strings.Join(all, ", ")
}
