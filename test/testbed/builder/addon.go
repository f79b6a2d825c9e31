package builder

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/refit-dev/refit/test/testbed/versions"
)

// Addon is a version of a component for tests: a chart, and the images that it runs.
type Addon struct {
	Name     string
	Version  string   // of the chart, without the v of the module
	Chart    string   // path of the archive
	Archives []string // paths of the images' archives
	Tools    string   // directory of the binaries that users run on their own machines
}

// addonSource is where an add-on comes from.
type addonSource struct {
	module   string
	chart    string // path of the chart in the module
	images   []addonImage
	tools    []string // packages of binaries that no image contains
	versions [2]string
	takes    time.Duration
}

// addonImage is an image with one binary. Its tag is the version of the module.
type addonImage struct {
	name    string // without a tag
	command string // package of the binary
	path    string // of the binary in the image
	user    string
}

// addons are all add-ons, by name. Charts in repositories often carry a placeholder as their
// version; the archive has the version of the module, as a publisher's has.
var addons = map[string]addonSource{
	"metrics-server": {
		module: "sigs.k8s.io/metrics-server", chart: "charts/metrics-server", versions: versions.MetricsServer, takes: 3 * time.Minute,
		images: []addonImage{{
			name: "registry.k8s.io/metrics-server/metrics-server", command: "sigs.k8s.io/metrics-server/cmd/metrics-server",
			path: "/metrics-server", user: "65534",
		}},
	},
	"lws": {
		module: "sigs.k8s.io/lws", chart: "charts/lws", versions: versions.LeaderWorkerSet, takes: 3 * time.Minute,
		images: []addonImage{{name: "registry.k8s.io/lws/lws", command: "sigs.k8s.io/lws/cmd", path: "/manager", user: "65532:65532"}},
	},
	"kueue": {
		module: "sigs.k8s.io/kueue", chart: "charts/kueue", versions: versions.Kueue, takes: 4 * time.Minute,
		images: []addonImage{{name: "registry.k8s.io/kueue/kueue", command: "sigs.k8s.io/kueue/cmd/kueue", path: "/manager", user: "65532:65532"}},
	},
	"liqo": {
		module: liqo, chart: "deployments/liqo", versions: versions.Liqo, takes: 10 * time.Minute,
		images: []addonImage{
			liqoImage("crd-replicator", "crd-replicator"), liqoImage("fabric", "fabric"),
			liqoImage("gateway", "gateway"), liqoImage("gateway/geneve", "gateway/geneve"), liqoImage("gateway/wireguard", "gateway/wireguard"),
			liqoImage("ipam", "ipam"), liqoImage("liqo-controller-manager", "liqo-controller-manager"),
			liqoImage("proxy", "proxy"), liqoImage("uninstaller", "uninstaller"),
			liqoImage("virtual-kubelet", "virtual-kubelet"), liqoImage("webhook", "webhook"),
		},
		tools: []string{liqo + "/cmd/liqoctl"},
	},
}

const liqo = "github.com/liqotech/liqo"

func liqoImage(name, command string) addonImage {
	return addonImage{name: "ghcr.io/liqotech/" + name, command: liqo + "/cmd/" + command, path: "/usr/bin/" + path.Base(command)}
}

// Addons returns the names of all add-ons.
func Addons() []string { return slices.Sorted(maps.Keys(addons)) }

// Addon returns the two versions of an add-on between which tests upgrade it, and builds missing
// ones. It needs neither root nor any tool except Go.
func (b *Builder) Addon(ctx context.Context, name string) (before, after Addon, err error) {
	source, ok := addons[name]
	if !ok {
		return Addon{}, Addon{}, fmt.Errorf("the testbed has no add-on %s", name)
	}
	toolchain, err := b.toolchain(ctx)
	if err != nil {
		return Addon{}, Addon{}, err
	}
	from, to := source.recipe(name, toolchain, 0), source.recipe(name, toolchain, 1)
	if err := b.ensure(ctx, from, to); err != nil {
		return Addon{}, Addon{}, err
	}
	return from.addon(b.cache.entry(from), b.cache.entry(from.binaries)), to.addon(b.cache.entry(to), b.cache.entry(to.binaries)), nil
}

// recipe returns the recipe of one of the versions.
func (s addonSource) recipe(name, toolchain string, version int) addonRecipe {
	release := s.versions[version]
	var commands []goCommand
	for _, image := range s.images {
		commands = append(commands, image.binary())
	}
	for _, tool := range s.tools {
		commands = append(commands, goCommand{pkg: tool})
	}
	return addonRecipe{name: name, source: s, release: release, binaries: goBinaries{
		name: name, release: release, toolchain: toolchain,
		modules:  []goModule{{Path: s.module, Version: release}},
		commands: commands, ldflags: goStrip, takes: s.takes,
	}}
}

// binary is the command of an image, under the name that it has there.
func (i addonImage) binary() goCommand { return goCommand{pkg: i.command, as: path.Base(i.path)} }

// addonRecipe packs the chart and the images of a version.
type addonRecipe struct {
	name     string
	source   addonSource
	release  string
	binaries goBinaries
}

// addonFormat is incremented when the content changes in code, which is not part of the key.
const addonFormat = "2"

func (r addonRecipe) component() string    { return "addon-" + r.name }
func (r addonRecipe) version() string      { return r.release }
func (r addonRecipe) needs() []recipe      { return []recipe{r.binaries} }
func (addonRecipe) usually() time.Duration { return 5 * time.Second }

func (r addonRecipe) inputs() []string {
	inputs := []string{addonFormat, r.source.module, r.source.chart}
	for _, i := range r.source.images {
		inputs = append(inputs, i.name, i.command, i.path, i.user)
	}
	return inputs
}

func (r addonRecipe) addon(entry, binaries string) Addon {
	made := Addon{
		Name: r.name, Version: strings.TrimPrefix(r.release, "v"),
		Chart: filepath.Join(entry, "chart.tgz"), Tools: filepath.Join(binaries, "bin"),
	}
	for _, image := range r.source.images {
		made.Archives = append(made.Archives, filepath.Join(entry, path.Base(image.name)+".tar"))
	}
	return made
}

func (r addonRecipe) build(ctx context.Context, shop *workshop, dir string) error {
	made := r.addon(dir, shop.of(r.binaries))
	module, err := downloadModule(ctx, shop, goModule{Path: r.source.module, Version: r.release})
	if err != nil {
		return err
	}
	if err := packChart(filepath.Join(module, r.source.chart), r.name, made.Version, made.Chart); err != nil {
		return err
	}
	for i, source := range r.source.images {
		binary := filepath.Join(made.Tools, source.binary().file())
		err := image{
			name: source.name + ":" + r.release, entrypoint: []string{source.path}, user: source.user,
			files: []layerFile{{path: source.path, mode: 0o755, source: binary}},
		}.write(made.Archives[i])
		if err != nil {
			return err
		}
	}
	return nil
}

var chartVersion = regexp.MustCompile(`(?m)^version:.*$`)

// packChart writes a chart as a reproducible archive, with a version.
func packChart(chart, name, version, to string) error {
	var files []layerFile
	root := os.DirFS(chart)
	err := fs.WalkDir(root, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := fs.ReadFile(root, file)
		if err != nil {
			return err
		}
		if file == "Chart.yaml" {
			content = chartVersion.ReplaceAll(content, []byte("version: "+version))
		}
		files = append(files, layerFile{path: path.Join("/", name, file), mode: 0o644, content: content})
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading the chart of %s: %w", name, err)
	}
	packed, err := layerTar(files)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	writer := gzip.NewWriter(&out)
	if _, err := writer.Write(packed); err != nil {
		return fmt.Errorf("packing the chart of %s: %w", name, err)
	}
	if err := writer.Close(); err != nil {
		return fmt.Errorf("packing the chart of %s: %w", name, err)
	}
	return os.WriteFile(to, out.Bytes(), 0o644)
}
