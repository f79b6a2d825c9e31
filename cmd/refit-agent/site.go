package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/refit-dev/refit/internal/agent"
	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Paths of the service.
const (
	binaryFile = "/usr/local/bin/refit-agent"
	unitFile   = "/etc/systemd/system/refit-agent.service"
	unitName   = "refit-agent.service"
	// bootLink starts the service at boot, like systemctl enable, which does not work from a
	// container.
	bootLink = "/etc/systemd/system/multi-user.target.wants/refit-agent.service"
)

// site is a host on which the agent is installed or removed.
type site struct {
	root     string // root directory of the host; set only in tests
	settings string // path of the file
	service  service
	cleanUp  func(context.Context, settings.Settings) error
}

func (a *app) site() *site {
	return &site{settings: a.settings, service: &systemdService{}, cleanUp: agent.CleanUp}
}

func (s *site) path(path string) string { return filepath.Join("/", s.root, path) }

// load reads the settings of the host.
func (s *site) load() (settings.Settings, error) {
	out, err := settings.Load(s.path(s.settings))
	out.StateDir = s.path(out.StateDir)
	return out, err
}

// change is a file that differs from its desired content; a nil content removes it.
type change struct {
	path    string
	content []byte // the target of a symbolic link
	mode    fs.FileMode
	dir     fs.FileMode // mode of its directory, if it must be created
}

type changes []change

// compare returns the changes that the host needs. Files that are up to date are not touched.
func (s *site) compare(b *bundle) (changes, error) {
	var out changes
	if err := s.compareKeys(&out, b); err != nil {
		return nil, err
	}
	if err := s.compareStores(&out, b); err != nil {
		return nil, err
	}
	if err := s.compareSettings(&out, b); err != nil {
		return nil, err
	}
	for _, file := range []change{{s.path(binaryFile), b.binary, 0o755, 0o755}, {s.path(unitFile), b.unit, 0o644, 0o755}} {
		if err := out.add(file); err != nil {
			return nil, err
		}
	}
	if to, err := os.Readlink(s.path(bootLink)); err != nil || to != unitFile {
		out = append(out, change{s.path(bootLink), []byte(unitFile), fs.ModeSymlink, 0o755})
	}
	return out, nil
}

// add adds a file if it differs.
func (c *changes) add(file change) error {
	info, err := os.Lstat(file.path)
	if errors.Is(err, fs.ErrNotExist) {
		*c = append(*c, file)
		return nil
	}
	if err != nil {
		return err
	}
	same := info.Mode() == file.mode && info.Size() == int64(len(file.content))
	if same {
		existing, err := os.ReadFile(file.path)
		if err != nil {
			return err
		}
		same = bytes.Equal(existing, file.content)
	}
	if !same {
		*c = append(*c, file)
	}
	return nil
}

var errNoKeys = errors.New("no key is pinned on this host, so it could not install any ClusterRelease: use --key")

func (s *site) compareKeys(out *changes, b *bundle) error {
	dir := s.path(settings.Keys)
	existing, err := filepath.Glob(filepath.Join(dir, "*.pem"))
	if err != nil {
		return err
	}
	left := len(b.keys)
	var unwanted changes
	for _, path := range existing {
		wanted := slices.ContainsFunc(b.keys, func(k key) bool { return k.name == filepath.Base(path) })
		switch {
		case wanted:
		case b.owns != "" && strings.HasPrefix(filepath.Base(path), b.owns):
			unwanted = append(unwanted, change{path: path})
		default:
			left++
		}
	}
	if left == 0 && len(unwanted) == 0 {
		return errNoKeys
	}
	for _, k := range b.keys {
		if err := out.add(change{filepath.Join(dir, k.name), k.text, 0o600, 0o700}); err != nil {
			return err
		}
	}
	*out = append(*out, unwanted...) // last, so that there is always a key
	return nil
}

// compareSettings does not touch a file with the same meaning: its owner may have added comments.
func (s *site) compareSettings(out *changes, b *bundle) error {
	path := s.path(s.settings)
	_, err := os.Stat(path)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return err
	}
	if !missing && b.overlay == nil {
		return nil
	}
	have, err := settings.Load(path)
	if err != nil {
		return err
	}
	want := have
	if b.overlay != nil {
		if want, err = b.overlay(have); err != nil {
			return err
		}
	}
	if err := checkSources(want.Sources); err != nil {
		return err
	}
	if !missing && reflect.DeepEqual(have, want) {
		return nil
	}
	text, err := yaml.Marshal(want)
	if err != nil {
		return err
	}
	*out = append(*out, change{path, text, 0o600, 0o700})
	return nil
}

// split separates the changes in some directories from the others.
func (c changes) split(dirs ...string) (within, others changes) {
	for _, file := range c {
		if slices.Contains(dirs, filepath.Dir(file.path)) {
			within = append(within, file)
		} else {
			others = append(others, file)
		}
	}
	return within, others
}

// apply applies the changes, and verifies that the agent can load the keys that are left.
func (s *site) apply(all changes) error {
	for _, file := range all {
		if file.content == nil {
			if err := durable.Remove(file.path); err != nil {
				return err
			}
			continue
		}
		if err := durable.MkdirAll(filepath.Dir(file.path), file.dir); err != nil {
			return err
		}
		write := durable.WriteFile
		if file.mode.IsDir() {
			write = makeDir
		}
		if file.mode == fs.ModeSymlink {
			write = writeLink
		}
		if err := write(file.path, file.content, file.mode); err != nil {
			return err
		}
	}
	_, err := artifact.LoadKeys(s.path(settings.Keys))
	if f, ok := errors.AsType[*node.Failure](err); ok && f.Reason == artifact.NoReleaseKeys {
		return nil // all keys are revoked, so that the host installs nothing
	}
	return err
}

// writeLink creates or replaces a symlink.
func writeLink(path string, to []byte, _ fs.FileMode) error {
	return durable.Symlink(string(to), path, durable.Caller)
}

// makeDir creates a directory.
func makeDir(path string, _ []byte, mode fs.FileMode) error {
	return durable.MkdirAll(path, mode.Perm())
}

// start starts the service, or restarts it after a change.
func (s *site) start(ctx context.Context, changed bool) error {
	if changed {
		return s.service.Restart(ctx)
	}
	return s.service.Start(ctx)
}

// String lists the changed files.
func (c changes) String() string {
	names := make([]string, 0, len(c))
	for _, file := range c {
		name := file.path
		if file.content == nil {
			name += " (removed)"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}
