package builder

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/refit-dev/refit/test/testbed/versions"
)

// rpmsFormat is incremented when the content of the packages changes in code, which is not part of
// the key.
const rpmsFormat = "1"

// rpms is the recipe of rpm packages from the binaries of other entries, built with nfpm. The entry
// contains them in rpms/.
type rpms struct {
	name     string
	release  string
	nfpm     recipe
	packages []rpmPackage
}

// An rpmPackage is one package.
type rpmPackage struct {
	name, version, release         string
	summary                        string
	requires, recommends, provides []string
	binaries                       []rpmBinary
	texts                          map[string]string // path in the package → text
	config                         map[string]string // the same, for files that a user may change
	directories                    map[string]uint32 // path in the package → mode
	scripts                        map[string]string // postinstall, preremove, postremove → text
}

// An rpmBinary is a binary of another entry.
type rpmBinary struct {
	to   string // path in the package
	from recipe
	name string // name in bin/
}

// binariesOf returns binaries of an entry that a package has in a directory.
func binariesOf(from recipe, dir string, names ...string) []rpmBinary {
	var all []rpmBinary
	for _, name := range names {
		all = append(all, rpmBinary{to: filepath.Join(dir, name), from: from, name: name})
	}
	return all
}

func (r rpms) component() string    { return r.name }
func (r rpms) version() string      { return r.release }
func (rpms) usually() time.Duration { return 10 * time.Second }

func (r rpms) needs() []recipe {
	needs := []recipe{r.nfpm}
	for _, p := range r.packages {
		for _, b := range p.binaries {
			if !slices.ContainsFunc(needs, func(n recipe) bool { return keyOf(n) == keyOf(b.from) }) {
				needs = append(needs, b.from)
			}
		}
	}
	return needs
}

func (r rpms) inputs() []string {
	inputs := []string{rpmsFormat}
	for _, p := range r.packages {
		var binaries []string
		for _, b := range p.binaries {
			binaries = append(binaries, b.to+"="+b.from.component()+"/"+b.name)
		}
		// fmt prints maps in the order of their keys.
		inputs = append(inputs, fmt.Sprintf("%q", []any{
			p.name, p.version, p.release, p.summary, p.requires, p.recommends, p.provides, binaries, p.texts, p.config, p.directories, p.scripts,
		}))
	}
	return inputs
}

func (r rpms) build(ctx context.Context, shop *workshop, dir string) error {
	into, work := filepath.Join(dir, "rpms"), filepath.Join(dir, "work")
	if err := os.Mkdir(into, 0o755); err != nil {
		return fmt.Errorf("creating directory: %w", err)
	}
	for _, p := range r.packages {
		config, err := p.lay(filepath.Join(work, p.name), shop)
		if err != nil {
			return fmt.Errorf("laying out %s: %w", p.name, err)
		}
		err = shop.run(ctx, command{
			argv: []string{filepath.Join(shop.of(r.nfpm), "bin/nfpm"), "package", "--config", config, "--packager", "rpm", "--target", into},
			env:  []string{"SOURCE_DATE_EPOCH=0"}, // makes it reproducible
		})
		if err != nil {
			return err
		}
	}
	return os.RemoveAll(work)
}

// nfpmConfig is the part of nfpm's configuration that we write. JSON is YAML, too.
type nfpmConfig struct {
	Name          string            `json:"name"`
	Arch          string            `json:"arch"`
	Version       string            `json:"version"`
	VersionSchema string            `json:"version_schema"`
	Release       string            `json:"release"`
	Maintainer    string            `json:"maintainer"`
	Description   string            `json:"description"`
	License       string            `json:"license"`
	Provides      []string          `json:"provides,omitempty"`
	Depends       []string          `json:"depends,omitempty"`
	Recommends    []string          `json:"recommends,omitempty"`
	Contents      []nfpmContent     `json:"contents,omitempty"`
	Scripts       map[string]string `json:"scripts,omitempty"`
	RPM           nfpmRPM           `json:"rpm"`
}

type nfpmContent struct {
	Source      string       `json:"src,omitempty"`
	Destination string       `json:"dst"`
	Type        string       `json:"type,omitempty"`
	FileInfo    nfpmFileInfo `json:"file_info"`
}

type nfpmFileInfo struct {
	Mode uint32 `json:"mode"`
}

type nfpmRPM struct {
	Summary     string `json:"summary"`
	BuildHost   string `json:"buildhost"`
	Compression string `json:"compression"`
}

// lay writes the files that nfpm reads, and its configuration, and returns the path of the latter.
func (p rpmPackage) lay(dir string, shop *workshop) (string, error) {
	config := nfpmConfig{
		Name: p.name, Arch: runtime.GOARCH, Version: p.version, VersionSchema: "none", Release: p.release,
		Maintainer: "The Refit authors <testbed@refit.invalid>", Description: p.summary, License: "Apache-2.0",
		Provides: p.provides, Depends: p.requires, Recommends: p.recommends, Scripts: map[string]string{},
		// Low compression, because it is read only on this machine.
		RPM: nfpmRPM{Summary: p.summary, BuildHost: "testbed", Compression: "gzip:1"},
	}
	for _, b := range p.binaries {
		source := filepath.Join(shop.of(b.from), "bin", b.name)
		config.Contents = append(config.Contents, nfpmContent{Source: source, Destination: b.to, FileInfo: nfpmFileInfo{0o755}})
	}
	for _, path := range slices.Sorted(maps.Keys(p.directories)) {
		config.Contents = append(config.Contents, nfpmContent{Destination: path, Type: "dir", FileInfo: nfpmFileInfo{p.directories[path]}})
	}
	for kind, texts := range map[string]map[string]string{"": p.texts, "config|noreplace": p.config} {
		for _, path := range slices.Sorted(maps.Keys(texts)) {
			source := filepath.Join(dir, "root", path)
			if err := writeFile(source, texts[path], 0o644); err != nil {
				return "", err
			}
			config.Contents = append(config.Contents, nfpmContent{Source: source, Destination: path, Type: kind, FileInfo: nfpmFileInfo{0o644}})
		}
	}
	for name, text := range p.scripts {
		config.Scripts[name] = filepath.Join(dir, name)
		if err := writeFile(config.Scripts[name], text, 0o755); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(config)
	if err != nil {
		return "", fmt.Errorf("writing the configuration of nfpm: %w", err)
	}
	path := filepath.Join(dir, "nfpm.yaml")
	return path, writeFile(path, string(text), 0o644)
}

// rpmsOf lists the rpm packages of finished entries.
func rpmsOf(c cache, entries []recipe) ([]string, error) {
	var all []string
	for _, r := range entries {
		found, err := filepath.Glob(filepath.Join(c.entry(r), "rpms", "*.rpm"))
		if err != nil || len(found) == 0 {
			return nil, fmt.Errorf("the entry of %s contains no packages", title(r))
		}
		all = append(all, found...)
	}
	return all, nil
}

// nfpm is the tool that builds rpm packages.
func nfpm(toolchain string) recipe {
	return goBinaries{
		name: "nfpm", release: versions.NFPM, toolchain: toolchain,
		modules:  []goModule{{Path: "github.com/goreleaser/nfpm/v2", Version: versions.NFPM}},
		commands: []goCommand{{pkg: "github.com/goreleaser/nfpm/v2/cmd/nfpm"}},
		ldflags:  goStrip, takes: time.Minute,
	}
}
