package packages

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// upgradeOptions belong to each installation, whatever the macros of the host set: no trigger of
// another package, whose script could restart services, and no skipped fsync.
var upgradeOptions = []string{"--upgrade", "--notriggers", "--replacepkgs", "--define", "_flush_io 1"}

// rollbackOptions are those of a rollback: these versions ran here, and nothing may block them. A
// repacked file has no signature of the vendor.
var rollbackOptions = []string{"--oldpackage", "--nodeps", "--replacefiles", "--nosignature"}

// Install is complete when each package is installed at its file's version and locked as before.
// systemd does not know changed units yet: the caller reloads it and restarts services.
func (r rpm) Install(ctx context.Context, files []string, opts Options) error {
	archives, lock, release, err := r.start(ctx, files, opts)
	if err != nil {
		return err
	}
	defer release()
	left, err := r.admitted(ctx, archives, opts)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		if err := r.upgrade(ctx, lock, left, opts); err != nil {
			return err
		}
	}
	return r.relock(archives, opts.Hold)
}

// upgrade runs the transaction.
func (r rpm) upgrade(ctx context.Context, lock *os.File, archives []archive, opts Options) error {
	if err := r.setUnfinished(namesOf(archives), true); err != nil {
		return err
	}
	err := r.change(ctx, lock, slices.Concat(upgradeOptions, optionsFor(opts), []string{"--"}, pathsOf(archives))...)
	if ctx.Err() != nil {
		return fmt.Errorf("cannot install %s: %w", text(archives), ctx.Err())
	}
	if err != nil {
		return r.transactionFailed(err, "InstallFailed", "cannot install "+text(archives))
	}
	if opts.Downgrade {
		if err := r.restoreConfig(ctx, archives); err != nil {
			return err
		}
	}
	return r.finish(ctx, archives)
}

// restoreConfig restores changed configuration that the newer version of a package does not have:
// rpm has moved it to PATH.rpmsave, and the repacked package does not contain it.
func (r rpm) restoreConfig(ctx context.Context, archives []archive) error {
	for _, a := range archives {
		config, err := r.configFiles(ctx, "--nosignature", "--package", "--", a.path)
		if err != nil {
			return err
		}
		for path, file := range config {
			if file.flags&fileIsGhost == 0 || file.flags&fileNoReplace == 0 {
				continue
			}
			path = r.onDisk(path)
			if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
				continue
			}
			err := durable.Rename(path+".rpmsave", path)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return durable.Explain(err, "restore", path)
			}
		}
	}
	return nil
}

func optionsFor(opts Options) []string {
	if opts.Downgrade {
		return rollbackOptions
	}
	return nil
}

// finish checks the result, makes it durable, and removes what an interrupted run left.
func (r rpm) finish(ctx context.Context, archives []archive) error {
	all, err := r.list(ctx, namesOf(archives)...)
	if err != nil {
		return err
	}
	for _, a := range archives {
		if !slices.ContainsFunc(all, func(i installation) bool { return i.name == a.name && i.version == a.version }) {
			return node.HostBroken("NotInstalled", nil,
				"Run `rpm --verify PACKAGE` and `journalctl -t rpm` on the host, then run `refit retry`",
				"rpm reported success, but %s %s is not installed", a.name, a.version)
		}
	}
	if len(all) > len(archives) {
		names := strings.Join(namesOf(archives), ", ")
		return node.HostBroken(HalfInstalled, nil,
			"Remove the version that is not wanted on the host (`rpm --query PACKAGE; rpm --erase --noscripts PACKAGE-VERSION`), then run `refit retry`",
			"rpm has installed new versions of %s, but could not remove the previous ones", names)
	}
	if err := r.settleFiles(ctx, namesOf(archives)); err != nil {
		return err
	}
	return r.setUnfinished(namesOf(archives), false)
}

// settleFiles syncs the files of packages, and removes temporary files of a killed rpm: PATH;ID.
func (r rpm) settleFiles(ctx context.Context, names []string) error {
	files, err := r.Files(ctx, names...)
	if err != nil {
		return err
	}
	dirs := map[string]bool{}
	for _, path := range files {
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		dirs[filepath.Dir(path)] = true
		if err := durable.SyncFile(path); err != nil {
			return durable.Explain(err, "sync", path)
		}
	}
	for dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return fmt.Errorf("cannot read a directory of a package: %w", err)
		}
		for _, e := range entries {
			owned, id, _ := strings.Cut(e.Name(), ";")
			if temporaryID.MatchString(id) && slices.Contains(files, filepath.Join(dir, owned)) {
				_ = os.Remove(filepath.Join(dir, e.Name()))
			}
		}
		if err := durable.SyncDir(dir); err != nil {
			return durable.Explain(err, "sync", dir)
		}
	}
	return nil
}

var temporaryID = regexp.MustCompile(`^[0-9a-f]{8}$`)

// Check waits for another package manager: what it reads meanwhile is neither the old nor the new
// state. Duplicates of other packages do not block: rpm changes nothing but the named ones.
func (r rpm) Check(ctx context.Context, files []string, opts Options) error {
	archives, _, release, err := r.start(ctx, files, opts)
	if err != nil {
		return err
	}
	defer release()
	_, err = r.admitted(ctx, archives, opts)
	return err
}

// start reads the files and takes the lock.
func (r rpm) start(ctx context.Context, files []string, opts Options) (archives []archive, lock *os.File, release func(), err error) {
	if err := checkNames(opts.Hold); err != nil {
		return nil, nil, nil, err
	}
	if archives, err = readArchives(ctx, files, r.readArchive); err != nil {
		return nil, nil, nil, err
	}
	lock, release, err = r.guard().lock(ctx)
	return archives, lock, release, err
}

// Configure never changes anything: rpm cannot continue an interrupted transaction, it needs the
// file.
func (r rpm) Configure(ctx context.Context, names []string) error {
	_, release, err := r.guard().lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	_, interrupted, err := r.states(ctx, names...)
	if err != nil {
		return err
	}
	var broken []string
	for _, name := range names {
		if interrupted[name] {
			broken = append(broken, name)
		}
	}
	if len(broken) == 0 {
		return nil
	}
	return node.HostBroken(HalfInstalled, nil,
		"Run `rpm --verify PACKAGE` on the host; reinstall these packages, in the new or the old version",
		"packages are half-installed: %s", strings.Join(broken, ", "))
}

// transactionFailed is the failure of an rpm transaction.
func (r rpm) transactionFailed(err error, reason, message string) error {
	log := logOf(err)
	remedy := "Read the log, fix the cause on the host (`rpm --verify PACKAGE` lists damaged files), then run `refit retry`"
	if strings.Contains(log, "No space left on device") {
		reason, remedy = "DiskFull", "Free disk space on the host, then run `refit retry`"
	}
	f := node.ManualIntervention(reason, err, remedy, "%s", message)
	f.LogTail = log
	return f
}
