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

// Addon is a version of a component for tests: a chart, and the image that it runs.
type Addon struct {
	Name    string
	Version string // of the chart, without the v of the module
	Chart   string // path of the archive
	Image   string // name and tag
	Archive string // path of the image's archive
}

// addonSource is where an add-on comes from.
type addonSource struct {
	module   string
	chart    string // path of the chart in the module
	command  string // package of the binary
	path     string // of the binary in the image
	image    string // name without a tag
	user     string
	versions [2]string
	takes    time.Duration
}

// addons are all add-ons, by name. Charts in repositories often carry a placeholder as their
// version; the archive has the version of the module, as a publisher's has.
var addons = map[string]addonSource{
	"metrics-server": {
		module: "sigs.k8s.io/metrics-server", chart: "charts/metrics-server", command: "sigs.k8s.io/metrics-server/cmd/metrics-server",
		path: "/metrics-server", image: "registry.k8s.io/metrics-server/metrics-server", user: "65534",
		versions: versions.MetricsServer, takes: 3 * time.Minute,
	},
	"lws": {
		module: "sigs.k8s.io/lws", chart: "charts/lws", command: "sigs.k8s.io/lws/cmd",
		path: "/manager", image: "registry.k8s.io/lws/lws", user: "65532:65532",
		versions: versions.LeaderWorkerSet, takes: 3 * time.Minute,
	},
	"kueue": {
		module: "sigs.k8s.io/kueue", chart: "charts/kueue", command: "sigs.k8s.io/kueue/cmd/kueue",
		path: "/manager", image: "registry.k8s.io/kueue/kueue", user: "65532:65532",
		versions: versions.Kueue, takes: 4 * time.Minute,
	},
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
	return from.addon(b.cache.entry(from)), to.addon(b.cache.entry(to)), nil
}

// recipe returns the recipe of one of the versions.
func (s addonSource) recipe(name, toolchain string, version int) addonRecipe {
	release := s.versions[version]
	return addonRecipe{name: name, source: s, release: release, binary: goBinaries{
		name: name, release: release, toolchain: toolchain,
		modules:  []goModule{{Path: s.module, Version: release}},
		commands: []goCommand{{pkg: s.command, as: "manager"}},
		ldflags:  goStrip, takes: s.takes,
	}}
}

// addonRecipe packs the chart and the image of a version.
type addonRecipe struct {
	name    string
	source  addonSource
	release string
	binary  goBinaries
}

// addonFormat is incremented when the content changes in code, which is not part of the key.
const addonFormat = "1"

func (r addonRecipe) component() string    { return "addon-" + r.name }
func (r addonRecipe) version() string      { return r.release }
func (r addonRecipe) needs() []recipe      { return []recipe{r.binary} }
func (addonRecipe) usually() time.Duration { return 5 * time.Second }

func (r addonRecipe) inputs() []string {
	return []string{addonFormat, r.source.module, r.source.chart, r.source.path, r.source.image, r.source.user}
}

func (r addonRecipe) addon(entry string) Addon {
	return Addon{
		Name: r.name, Version: strings.TrimPrefix(r.release, "v"),
		Chart: filepath.Join(entry, "chart.tgz"), Image: r.source.image + ":" + r.release, Archive: filepath.Join(entry, "image.tar"),
	}
}

func (r addonRecipe) build(ctx context.Context, shop *workshop, dir string) error {
	made := r.addon(dir)
	module, err := downloadModule(ctx, shop, goModule{Path: r.source.module, Version: r.release})
	if err != nil {
		return err
	}
	if err := packChart(filepath.Join(module, r.source.chart), r.name, made.Version, made.Chart); err != nil {
		return err
	}
	return image{
		name: made.Image, entrypoint: []string{r.source.path}, user: r.source.user,
		files: []layerFile{{path: r.source.path, mode: 0o755, source: filepath.Join(shop.of(r.binary), "bin", "manager")}},
	}.write(made.Archive)
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
