package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"sigs.k8s.io/yaml"
)

// plugin is the manifest of a plugin of krew.
type plugin struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Version          string           `json:"version"`
		Homepage         string           `json:"homepage"`
		ShortDescription string           `json:"shortDescription"`
		Description      string           `json:"description"`
		Platforms        []pluginPlatform `json:"platforms"`
	} `json:"spec"`
}

type pluginPlatform struct {
	URI      string `json:"uri"`
	Sha256   string `json:"sha256"`
	Bin      string `json:"bin"`
	Selector struct {
		MatchLabels struct{ OS, Arch string } `json:"matchLabels"`
	} `json:"selector"`
}

// download is where the archives of a release are.
func (r release) download(archive string) string {
	return "https://github.com/refit-dev/refit/releases/download/" + r.version + "/" + archive
}

// checkKrew checks the manifest against the archives, and lets krew validate and install it.
func (r release) checkKrew(ctx context.Context) error {
	manifest := filepath.Join(r.dir, krewManifest)
	raw, err := os.ReadFile(manifest)
	if err != nil {
		return err
	}
	var got plugin
	if err := yaml.UnmarshalStrict(raw, &got); err != nil {
		return err
	}
	if got.Metadata.Name != cli || got.Spec.Version != r.version {
		return fmt.Errorf("it is about %s %s", got.Metadata.Name, got.Spec.Version)
	}
	if err := r.checkPlatforms(got.Spec.Platforms); err != nil {
		return err
	}
	if r.validator != "" {
		if _, err := execute(ctx, nil, r.validator, "-manifest", manifest, "-skip-install"); err != nil {
			return err
		}
	}
	if r.krew == "" {
		return nil
	}
	for _, p := range r.platforms {
		if err := r.install(ctx, manifest, p); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	return nil
}

// checkPlatforms checks that each platform of the release is there once, with its archive.
func (r release) checkPlatforms(got []pluginPlatform) error {
	sums, err := r.sums()
	if err != nil {
		return err
	}
	want := map[platform]bool{}
	for _, p := range r.platforms {
		want[p] = true
	}
	for _, entry := range got {
		p := platform{entry.Selector.MatchLabels.OS, entry.Selector.MatchLabels.Arch}
		if !want[p] {
			return fmt.Errorf("the platform %s is there twice, or not in the release", p)
		}
		delete(want, p)
		archive, binary := r.archive(product{cli, p}), cli
		if p.os == "windows" {
			binary += ".exe"
		}
		if entry.URI != r.download(archive) || entry.Sha256 != sums[archive] || entry.Bin != binary {
			return fmt.Errorf("the platform %s has %+v, want %s with the digest %s", p, entry, archive, sums[archive])
		}
	}
	if len(want) > 0 {
		return fmt.Errorf("platforms are missing: %v", want)
	}
	return nil
}

// install lets krew install the archive of a platform below a temporary directory. krew compares
// the digest. The plugin of this platform must run.
func (r release) install(ctx context.Context, manifest string, p platform) error {
	root, err := os.MkdirTemp("", "releasecheck-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	archive, err := filepath.Abs(filepath.Join(r.dir, r.archive(product{cli, p})))
	if err != nil {
		return err
	}
	environment := []string{"KREW_ROOT=" + root, "KREW_OS=" + p.os, "KREW_ARCH=" + p.arch, "KREW_NO_UPGRADE_CHECK=1"}
	if _, err := execute(ctx, environment, r.krew, "install", "--manifest", manifest, "--archive", archive); err != nil {
		return err
	}
	installed := filepath.Join(root, "store", cli, r.version)
	if _, err := os.Stat(filepath.Join(installed, "LICENSE")); err != nil {
		return fmt.Errorf("krew does not install the license: %w", err)
	}
	name := "kubectl-" + cli
	if p.os == "windows" {
		name += ".exe"
	}
	command := filepath.Join(root, "bin", name)
	if _, err := os.Stat(command); err != nil {
		return fmt.Errorf("krew does not install the command: %w", err)
	}
	if (p == platform{runtime.GOOS, runtime.GOARCH}) {
		return r.reports(ctx, command)
	}
	return nil
}

// checkFormula checks that the formula has each archive for macOS and Linux with its digest.
func (r release) checkFormula() error {
	raw, err := os.ReadFile(filepath.Join(r.dir, formula))
	if err != nil {
		return err
	}
	sums, err := r.sums()
	if err != nil {
		return err
	}
	// Homebrew takes the digest that follows an address.
	digests, address := map[string]string{}, ""
	for line := range strings.Lines(string(raw)) {
		word, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch value = strings.Trim(value, `"`); word {
		case "url":
			address = value
		case "sha256":
			digests[address] = value
		}
	}
	var problems []error
	for _, p := range r.platforms {
		archive := r.archive(product{cli, p})
		if p.os == "windows" {
			continue
		}
		if got := digests[r.download(archive)]; got != sums[archive] {
			problems = append(problems, fmt.Errorf("%s has the digest %q, want %s", archive, got, sums[archive]))
		}
		delete(digests, r.download(archive))
	}
	for address := range digests {
		problems = append(problems, fmt.Errorf("%s is not in the release", path.Base(address)))
	}
	return errors.Join(problems...)
}
