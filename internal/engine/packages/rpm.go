package packages

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Rpm returns the driver for hosts that were installed from rpm packages. It runs rpm instead of
// dnf: the files are known, nothing may be downloaded, added or removed, and dnf's plugins
// (needs-restarting for one) would restart services.
func Rpm() Driver {
	return rpm{root: "/", lockTimeout: LockTimeout}
}

// rpm is a driver for one rpm database. Only tests use another one than the host's.
type rpm struct {
	root string
	// flags precede the options of each rpm call.
	flags []string
	// lockTimeout bounds the wait for another package manager.
	lockTimeout time.Duration
}

func (rpm) Kind() refitv1alpha1.PackageKind { return refitv1alpha1.PackageRpm }

func (r rpm) onDisk(path string) string { return filepath.Join(r.root, path) }

// query runs rpm without changes.
func (r rpm) query(ctx context.Context, args ...string) (string, error) {
	return output(exec.CommandContext(ctx, "rpm", append(slices.Clone(r.flags), args...)...))
}

// change runs rpm. The caller holds the lock, which rpm inherits: if the agent is killed, the lock
// stays until rpm has ended. rpm itself takes another lock, or it would wait for the caller's.
func (r rpm) change(ctx context.Context, lock *os.File, args ...string) error {
	all := slices.Concat(r.flags, []string{"--define", "_rpmlock_path " + childLock}, args)
	cmd := exec.CommandContext(ctx, "rpm", all...)
	cmd.Env = environment()
	cmd.ExtraFiles = []*os.File{lock}
	cmd.Cancel = func() error { return nil } // only WaitDelay ends it
	cmd.WaitDelay = stopTimeout
	// Signals to the agent's process group do not reach rpm.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var log tail
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Run(); err != nil {
		return &failedRun{err: err, log: log.String()}
	}
	return nil
}

// Owner finds a package by any path of its file: rpm resolves the links of directories.
func (r rpm) Owner(ctx context.Context, path string) (string, error) {
	if _, err := os.Lstat(r.onDisk(path)); err != nil || !filepath.IsAbs(path) {
		return "", nil //nolint:nilerr // a file that does not exist has no owner
	}
	out, err := r.query(ctx, "--query", "--queryformat", `%{NAME}\n`, "--file", "--", path)
	switch {
	case err == nil:
		name, _, _ := strings.Cut(out, "\n")
		return name, nil
	case exitCode(err) <= 0:
		return "", wrap(err, "cannot find the package of %s", path)
	}
	// rpm fails the same way if no package has the file, and if it cannot read its database.
	_, err = r.list(ctx, "rpm")
	return "", err
}

// installation is one package in the rpm database.
type installation struct{ name, version, arch string }

// versionFormat has the epoch only if there is one, as in the versions of ClusterReleases.
const versionFormat = `%|EPOCH?{%{EPOCH}:}:{}|%{VERSION}-%{RELEASE}`

const listFormat = `%{NAME}\t` + versionFormat + `\t%{ARCH}\n`

// list returns the installations of the names. rpm has a name twice if an installation was
// interrupted before it removed the previous version.
func (r rpm) list(ctx context.Context, names ...string) ([]installation, error) {
	if err := checkNames(names); err != nil {
		return nil, err
	}
	// Unlike a query by name, --all fails only if the database cannot be read.
	out, err := r.query(ctx, slices.Concat([]string{"--query", "--all", "--queryformat", listFormat, "--"}, names)...)
	if err != nil {
		return nil, wrap(err, "cannot list packages")
	}
	var all []installation
	for line := range strings.Lines(out) {
		if i, ok := parseInstallation(line); ok && slices.Contains(names, i.name) {
			all = append(all, i)
		}
	}
	return all, nil
}

func parseInstallation(line string) (installation, bool) {
	f := strings.Split(strings.TrimRight(line, "\n"), "\t")
	if len(f) != 3 {
		return installation{}, false
	}
	return installation{name: f[0], version: strings.TrimPrefix(f[1], "0:"), arch: f[2]}, true
}

// states returns the installations by name, and the names whose installation was interrupted.
func (r rpm) states(ctx context.Context, names ...string) (found map[string]installation, interrupted map[string]bool, err error) {
	found, interrupted = map[string]installation{}, map[string]bool{}
	if len(names) == 0 {
		return found, interrupted, nil // never those of all packages
	}
	all, err := r.list(ctx, names...)
	if err != nil {
		return nil, nil, err
	}
	unfinished, err := r.unfinished()
	if err != nil {
		return nil, nil, err
	}
	for _, i := range all {
		if _, twice := found[i.name]; twice {
			interrupted[i.name] = true
		}
		found[i.name] = i
	}
	for _, name := range names {
		if unfinished[name] {
			interrupted[name] = true
		}
	}
	return found, interrupted, nil
}

// Installed omits packages whose installation was interrupted: for a step they are not installed.
func (r rpm) Installed(ctx context.Context, names ...string) (map[string]string, error) {
	found, interrupted, err := r.states(ctx, names...)
	if err != nil {
		return nil, err
	}
	versions := map[string]string{}
	for name, i := range found {
		if !interrupted[name] {
			versions[name] = i.version
		}
	}
	return versions, nil
}

// Settled also accepts a package that the operator has installed again after an interruption.
func (r rpm) Settled(ctx context.Context, names ...string) (map[string]string, error) {
	found, err := r.settledStates(ctx, names...)
	versions := map[string]string{}
	for name, i := range found {
		versions[name] = i.version
	}
	return versions, err
}

// Files returns the locations on disk.
func (r rpm) Files(ctx context.Context, names ...string) ([]string, error) {
	if err := checkNames(names); err != nil || len(names) == 0 {
		return nil, err
	}
	out, err := r.query(ctx, slices.Concat([]string{"--query", "--queryformat", `[%{FILENAMES}\n]`, "--"}, names)...)
	if err != nil {
		return nil, wrap(err, "cannot list the files of %s", strings.Join(names, ", "))
	}
	var all []string
	for line := range strings.Lines(out) {
		all = append(all, r.onDisk(strings.TrimRight(line, "\n")))
	}
	return all, nil
}

// Verify checks the state of the packages, and the content of their files with rpm --verify. Modes
// and owners do not count: the operator may have changed them.
func (r rpm) Verify(ctx context.Context, names []string) ([]string, error) {
	found, interrupted, err := r.states(ctx, names...)
	if err != nil {
		return nil, err
	}
	fault := func(name string) string {
		if interrupted[name] {
			return "half-installed"
		}
		if _, known := found[name]; !known {
			return notInstalled
		}
		return ""
	}
	return verify(names, fault, func(installed []string) ([]string, error) { return r.changed(ctx, installed) })
}

// changed returns the files that differ from their packages.
func (r rpm) changed(ctx context.Context, names []string) ([]string, error) {
	out, err := r.query(ctx, slices.Concat([]string{
		"--verify", "--nodeps", "--noscripts", "--nomode", "--nouser", "--nogroup", "--nomtime", "--nordev", "--nocaps", "--",
	}, names)...)
	if err != nil && exitCode(err) <= 0 {
		return nil, wrap(err, "cannot verify the files of packages")
	}
	return changedFiles(out), nil
}
