package builder

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/refit-dev/refit/test/testbed/versions"
)

// RemoveSuperseded removes entries that no current recipe uses: a changed flag, patch or version
// gives an entry a new key, and the old entry stays behind. Entries with a path in keep are in use
// by clusters and stay. It returns what it removed.
func (b *Builder) RemoveSuperseded(ctx context.Context, keep []string) (removed []string, err error) {
	current, err := b.current(ctx)
	if err != nil {
		return nil, err
	}
	err = b.locked(ctx, func() error {
		entries, err := filepath.Glob(filepath.Join(b.cache.dir, "*", "*-"+strings.Repeat("[0-9a-f]", keyLength)))
		if err != nil {
			return fmt.Errorf("listing the cache: %w", err)
		}
		for _, entry := range entries {
			used := func(path string) bool { return strings.HasPrefix(path, entry+"/") }
			if current[entry] || slices.ContainsFunc(keep, used) {
				continue
			}
			if err := removeTree(entry); err != nil {
				return err
			}
			removed = append(removed, strings.TrimPrefix(entry, b.cache.dir+"/"))
		}
		return nil
	})
	return removed, err
}

// current returns every entry of the current recipes of all supported versions.
func (b *Builder) current(ctx context.Context) (map[string]bool, error) {
	entries := map[string]bool{}
	for _, version := range versions.Kubernetes() {
		parts, err := b.parts(ctx, version)
		if err != nil {
			return nil, err
		}
		recipes := slices.Concat(parts.all(), parts.rpms(), []recipe{parts.rpmTools, parts.baseRpm, parts.oldContainerdRpm, parts.runtime, parts.nfpm})
		for _, install := range installs {
			for _, containerd := range []string{ContainerdDebian, ContainerdBuilt} {
				node, seed, err := b.nodeRecipes(ctx, NodeImageSpec{Kubernetes: version, Install: install, Containerd: containerd})
				if err != nil {
					return nil, err
				}
				recipes = append(recipes, node, seed)
			}
		}
		for _, r := range recipes {
			entries[b.cache.entry(r)] = true
		}
	}
	toolchain, err := b.toolchain(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range others(toolchain) {
		entries[b.cache.entry(r)] = true
	}
	return entries, nil
}

// others returns the recipes that belong to no Kubernetes release.
func others(toolchain string) []recipe {
	recipes := []recipe{
		keepalived{debian: debian{}},
		kubeVIP(toolchain),
		kubeVIPImage{binaries: kubeVIP(toolchain)},
		minio(toolchain), fakeGCS(toolchain), registryServer(toolchain), helmCLI(toolchain), prometheusServer(toolchain), collectorServer(toolchain),
	}
	for name, source := range addons {
		for version := range source.versions {
			made := source.recipe(name, toolchain, version)
			recipes = append(recipes, made, made.binaries)
		}
	}
	return recipes
}
