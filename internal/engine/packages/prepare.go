package packages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// listName is the file that lists the package files for a rollback. It is written last; with it, a
// Prepare that is repeated after Install changes nothing.
const listName = "prepared.json"

// prepared is one package of the list. A package that was not installed has no file.
type prepared struct {
	Version string `json:"version,omitempty"`
	File    string `json:"file,omitempty"`
}

// Prepared returns the files of these packages that Prepare kept in dir: a rollback installs them.
func Prepared(dir string, names ...string) ([]string, error) {
	list, err := readList(dir)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, name := range names {
		p, known := list[name]
		if !known {
			return nil, node.HostBroken("NoRollbackPackage", nil,
				"Install the previous version with `apt-get install PACKAGE=VERSION` or `dnf downgrade PACKAGE-VERSION`, "+
					"or continue the upgrade with `refit retry`",
				"the previous version of package %s was not kept", name)
		}
		if p.File != "" {
			files = append(files, filepath.Join(dir, p.File))
		}
	}
	return files, nil
}

// Prepare prefers the original file, which has more than an installed package: the unchanged
// configuration files.
func (d deb) Prepare(ctx context.Context, dir string, names []string) error {
	release, err := d.lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := durable.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	list, err := readList(dir)
	if err != nil {
		return err
	}
	found, err := d.settledStates(ctx, unprepared(dir, list, names)...)
	if err != nil {
		return err
	}
	// One timeout for all packages: an offline host must not wait for each.
	repository, cancel := context.WithTimeout(ctx, d.fetchTimeout)
	defer cancel()
	for _, name := range unprepared(dir, list, names) {
		p := prepared{}
		if s := found[name]; s.installed() {
			p = prepared{Version: s.version, File: fileName(name, s)}
			if err := d.keep(ctx, repository, filepath.Join(dir, p.File), name, s); err != nil {
				return err
			}
		}
		list[name] = p
	}
	return writeList(dir, list)
}

// unprepared returns the packages that are not kept yet.
func unprepared(dir string, list map[string]prepared, names []string) []string {
	var left []string
	for _, name := range names {
		p, done := list[name]
		if done && p.File != "" {
			_, err := os.Stat(filepath.Join(dir, p.File))
			done = err == nil
		}
		if !done {
			left = append(left, name)
		}
	}
	return left
}

// fileName is the name of the file in apt's cache.
func fileName(name string, s state) string {
	return fmt.Sprintf("%s_%s_%s.deb", name, strings.ReplaceAll(s.version, ":", "%3a"), s.arch)
}

// keep writes one package file to a path. If an installed file was changed, the original package is
// not what runs here, so keep repacks the installed files.
func (d deb) keep(ctx, repository context.Context, path, name string, s state) error {
	if d.matches(ctx, path, name, s) {
		return durable.SyncDir(filepath.Dir(path)) // a kill can precede the first sync
	}
	work, err := os.MkdirTemp(filepath.Dir(path), ".prepare-")
	if err != nil {
		return fmt.Errorf("cannot create a directory for the rollback packages: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }()
	changed, err := d.changed(ctx, []string{name})
	if err != nil {
		return err
	}
	ready := ""
	if len(changed) == 0 {
		ready = d.original(ctx, repository, work, name, s)
	}
	if ready == "" {
		if ready, err = d.repack(ctx, work, name); err != nil {
			return durable.Explain(err, "repack", name)
		}
		if !d.matches(ctx, ready, name, s) {
			return node.HostBroken("RepackFailed", nil,
				"Copy the package file of the installed version to /var/cache/apt/archives on the host, then run `refit retry`",
				"cannot repack the installed package %s", name)
		}
	}
	err = durable.SyncFile(ready)
	if err == nil {
		err = durable.Rename(ready, path)
	}
	return durable.Explain(err, "keep", path)
}

// original returns the file that the package was installed from: in apt's cache, else from a
// repository. It returns "" if there is none.
func (d deb) original(ctx, repository context.Context, work, name string, s state) string {
	cached := filepath.Join(d.archives, fileName(name, s))
	if d.sameBuild(ctx, cached, name, s) {
		copied := filepath.Join(work, fileName(name, s))
		if copyFile(cached, copied) == nil && d.sameBuild(ctx, copied, name, s) {
			return copied
		}
	}
	if !d.fetch || repository.Err() != nil {
		return ""
	}
	cmd := exec.CommandContext(repository, "apt-get", "download", "--quiet",
		"-o", "Acquire::Retries=0", "-o", "Acquire::http::Timeout=5", "-o", "Acquire::https::Timeout=5", "-o", "Acquire::ftp::Timeout=5",
		"-o", "APT::Sandbox::User=root", "-o", "Dir::Cache::pkgcache=", "-o", "Dir::Cache::srcpkgcache=",
		"--", name+":"+s.arch+"="+s.version)
	if s.arch == "all" {
		cmd.Args[len(cmd.Args)-1] = name + "=" + s.version
	}
	cmd.Dir = work
	if _, err := output(cmd); err != nil {
		return ""
	}
	found, _ := filepath.Glob(filepath.Join(work, "*.deb"))
	for _, file := range found {
		if d.sameBuild(ctx, file, name, s) {
			return file
		}
	}
	return ""
}

// matches reports whether a file is a package of exactly this name, version and architecture.
func (deb) matches(ctx context.Context, path, name string, s state) bool {
	a, err := readDeb(ctx, path)
	return err == nil && a.name == name && a.version == s.version && a.arch == s.arch
}

// sameBuild reports whether the package also has the installed files: a version can be built twice.
func (d deb) sameBuild(ctx context.Context, path, name string, s state) bool {
	if !d.matches(ctx, path, name, s) {
		return false
	}
	theirs, err := output(exec.CommandContext(ctx, "dpkg-deb", "--info", path, "md5sums"))
	if err != nil {
		return exitCode(err) > 0 // it has none, so there is nothing to compare
	}
	ours, err := d.query(ctx, "--control-show", name, "md5sums")
	return err != nil || slices.Equal(sums(theirs), sums(ours))
}

func sums(text string) []string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	slices.Sort(lines)
	return lines
}

func readList(dir string) (map[string]prepared, error) {
	list := map[string]prepared{}
	text, err := os.ReadFile(filepath.Join(dir, listName)) // in the agent's own directory
	if errors.Is(err, os.ErrNotExist) {
		return list, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the list of rollback packages: %w", err)
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("cannot read the list of rollback packages: %w", err)
	}
	return list, nil
}

func writeList(dir string, list map[string]prepared) error {
	text, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return fmt.Errorf("cannot write the list of rollback packages: %w", err)
	}
	return durable.WriteFile(filepath.Join(dir, listName), text, 0o600)
}
