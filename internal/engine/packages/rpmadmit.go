package packages

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

func (r rpm) readArchive(ctx context.Context, path string) (archive, error) {
	if _, err := os.Stat(path); err != nil {
		return archive{}, fmt.Errorf("cannot find package file: %w", err)
	}
	// The digests in the file are checked, too; rpm does not know the vendor's key on every host.
	out, err := r.query(ctx, "--query", "--nosignature", "--queryformat", listFormat, "--package", "--", path)
	if ctx.Err() != nil {
		return archive{}, ctx.Err()
	}
	i, ok := parseInstallation(out)
	if err == nil && (!ok || checkNames([]string{i.name}) != nil) {
		err = fmt.Errorf("unexpected name or version: %q", out)
	}
	if err != nil {
		return archive{}, node.ManualIntervention("PackageUnreadable", err,
			"Check the file at its source (`refit release verify`), then run `refit retry`",
			"%s is not a package that rpm can read", path)
	}
	return archive{path: path, name: i.name, version: i.version, arch: i.arch}, nil
}

// admitted returns the archives that are not installed yet, once all of them may be.
func (r rpm) admitted(ctx context.Context, archives []archive, opts Options) ([]archive, error) {
	found, interrupted, err := r.states(ctx, namesOf(archives)...)
	if err != nil {
		return nil, err
	}
	left := slices.DeleteFunc(slices.Clone(archives), func(a archive) bool {
		return found[a.name].version == a.version && !interrupted[a.name]
	})
	if len(left) == 0 || opts.Downgrade { // nothing may block a rollback
		return left, nil
	}
	started := false
	for _, a := range left {
		started = started || interrupted[a.name]
		now, installed := found[a.name]
		if !installed || interrupted[a.name] {
			continue
		}
		lower, err := r.lower(ctx, a.version, now.version)
		if err != nil {
			return nil, err
		}
		if lower {
			return nil, node.ManualIntervention("DowngradeRefused", nil,
				"Create a ClusterRelease with the installed version or a newer one: `refit release create`",
				"%s %s is installed, which is newer than %s", a.name, now.version, a.version)
		}
		if err := r.checkConfig(ctx, a); err != nil {
			return nil, err
		}
	}
	if started {
		return left, nil // it was admitted before it was interrupted
	}
	return left, r.simulate(ctx, left)
}

// lower compares epoch, version and release one after the other: the function of an rpm before 4.17
// compares a single part. A version without an epoch has the epoch 0.
func (r rpm) lower(ctx context.Context, a, b string) (bool, error) {
	theirs := partsOfVersion(b)
	for i, part := range partsOfVersion(a) {
		script := fmt.Sprintf("%%{lua: print(rpm.vercmp(%s, %s))}", strconv.Quote(part), strconv.Quote(theirs[i]))
		out, err := r.query(ctx, "--eval", script)
		if err != nil {
			return false, wrap(err, "cannot compare versions %s and %s", a, b)
		}
		order, err := strconv.Atoi(strings.TrimSpace(out))
		if err != nil {
			return false, fmt.Errorf("cannot compare versions %s and %s: %w", a, b, err)
		}
		if order != 0 {
			return order < 0, nil
		}
	}
	return false, nil
}

// partsOfVersion returns epoch, version and release.
func partsOfVersion(full string) [3]string {
	epoch, rest, found := strings.Cut(full, ":")
	if !found {
		epoch, rest = "0", full
	}
	version, release, _ := strings.Cut(rest, "-")
	return [3]string{epoch, version, release}
}

// simulate runs the transaction without changes. A second run without dependencies shows whether
// they are the cause.
func (r rpm) simulate(ctx context.Context, archives []archive) error {
	args := slices.Concat(upgradeOptions, []string{"--test"})
	_, err := r.query(ctx, slices.Concat(args, []string{"--"}, pathsOf(archives))...)
	if ctx.Err() != nil {
		return fmt.Errorf("cannot simulate the installation of %s: %w", text(archives), ctx.Err())
	}
	if err == nil {
		return nil
	}
	if _, other := r.query(ctx, slices.Concat(args, []string{"--nodeps", "--"}, pathsOf(archives))...); other != nil {
		f := node.ManualIntervention("InstallRefused", err,
			"Fix what the log names (a file conflict, disk space, a missing key of the vendor: `rpm --import`), then run `refit retry`",
			"rpm refuses to install %s", text(archives))
		f.LogTail = logOf(err)
		return f
	}
	f := node.ManualIntervention("UnmetDependencies", err,
		"Install the packages that the log names (`dnf install PACKAGE`), or create a ClusterRelease that has them, then run `refit retry`",
		"the dependencies of %s are not met on this host", text(archives))
	f.LogTail = logOf(err)
	return f
}

// checkConfig refuses a package that would replace a configuration file that the operator changed.
// dpkg has an option to keep it; rpm decides by the package, and moves the file to PATH.rpmsave.
func (r rpm) checkConfig(ctx context.Context, a archive) error {
	before, err := r.configFiles(ctx, "--", a.name)
	if err != nil {
		return err
	}
	after, err := r.configFiles(ctx, "--nosignature", "--package", "--", a.path)
	if err != nil {
		return err
	}
	for path, next := range after {
		old, known := before[path]
		if !known || next.flags&fileNoReplace != 0 || old.digest == next.digest {
			continue
		}
		now, err := digestOf(r.onDisk(path), old.algo)
		if err != nil || now == old.digest {
			continue // it does not exist, or is unchanged
		}
		if same, err := digestOf(r.onDisk(path), next.algo); err == nil && same == next.digest {
			continue
		}
		name, version := a.name, a.version
		return node.ManualIntervention("ConfigurationEdited", nil,
			"Move your changes to a file that the package does not own, such as a drop-in, "+
				"restore the packaged file (`dnf reinstall PACKAGE`), then run `refit retry`",
			"%s was changed on this host, and %s %s would replace it", path, name, version)
	}
	return nil
}

// configFile is a configuration file of a package.
type configFile struct {
	flags, algo uint64
	digest      string
}

func (r rpm) configFiles(ctx context.Context, args ...string) (map[string]configFile, error) {
	format := `[%{FILEFLAGS}\t%{FILEDIGESTS}\t%{=FILEDIGESTALGO}\t%{FILENAMES}\n]`
	out, err := r.query(ctx, slices.Concat([]string{"--query", "--queryformat", format}, args)...)
	if err != nil {
		return nil, wrap(err, "cannot list configuration files")
	}
	found := map[string]configFile{}
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimRight(line, "\n"), "\t", 4)
		if len(f) != 4 || f[1] == "" {
			continue
		}
		flags, _ := strconv.ParseUint(f[0], 10, 32)
		algo, err := strconv.ParseUint(f[2], 10, 32)
		if err != nil {
			algo = digestMD5 // packages of an old rpm do not name it
		}
		if flags&fileIsConfig != 0 {
			found[f[3]] = configFile{flags: flags, algo: algo, digest: f[1]}
		}
	}
	return found, nil
}
