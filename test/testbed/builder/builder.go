package builder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/refit-dev/refit/test/testbed/machine"
	"github.com/refit-dev/refit/test/testbed/progress"
	"github.com/refit-dev/refit/test/testbed/versions"
)

// Tools are required on the machine to build.
var Tools = []machine.Tool{
	{Name: "apt-ftparchive", Package: "apt-utils"},
	{Name: "debootstrap", Package: "debootstrap"},
	{Name: "dpkg-deb", Package: "dpkg"},
	{Name: "gcc", Package: "gcc"},
	{Name: "go", Package: "(Go 1.26 or newer, not Debian 12's)"},
	{Name: "nsenter", Package: "util-linux"},
	{Name: "systemd-nspawn", Package: "systemd-container"},
	{Name: "unshare", Package: "util-linux"},
}

// A Builder builds what is missing in one cache. Several builders, in one or many processes, take
// turns.
type Builder struct {
	cache  cache
	apt    aptRepository
	report *progress.Reporter
}

// New returns a Builder for the cache in a directory, which may not exist yet.
func New(cacheDir string, report *progress.Reporter) *Builder {
	if abs, err := filepath.Abs(cacheDir); err == nil {
		cacheDir = abs // tools run in other directories
	}
	return &Builder{cache: cache{dir: cacheDir}, apt: aptRepository{dir: filepath.Join(cacheDir, "apt")}, report: report}
}

// AptRepository returns the directory of the packages of every release built so far. Nodes see it
// at /srv/apt.
func (b *Builder) AptRepository() string { return b.apt.dir }

// Build builds everything for these Kubernetes versions, except node images.
func (b *Builder) Build(ctx context.Context, kubernetes []string) error {
	for _, version := range kubernetes {
		if _, err := b.Release(ctx, version); err != nil {
			return err
		}
	}
	return nil
}

// A Release contains the paths of the parts of a Kubernetes release.
type Release struct {
	versions.Release
	Bin           string   // directory with the seven commands
	EtcdBin       string   // directory with etcd, etcdctl and etcdutl
	CNIBin        string   // directory with the CNI plugins
	ContainerdBin string   // directory with the built containerd, its shim and ctr
	Debs          []string // packages of Kubernetes, the CNI plugins and containerd
	Rpms          []string // the same as rpm packages, after WithRpms
	Images        []string // archives of the container images
}

// Release returns the parts of a Kubernetes release, and builds missing ones.
func (b *Builder) Release(ctx context.Context, kubernetes string) (Release, error) {
	parts, err := b.parts(ctx, kubernetes)
	if err != nil {
		return Release{}, err
	}
	if err := b.ensure(ctx, parts.all()...); err != nil {
		return Release{}, err
	}
	if err := b.publish(ctx, parts); err != nil {
		return Release{}, err
	}
	debs, err := debsOf(b.cache, []recipe{parts.cniDeb, parts.containerdDeb, parts.kubernetesDebs})
	if err != nil {
		return Release{}, err
	}
	return Release{
		Release: parts.release,
		Bin:     b.bin(parts.kubernetes), EtcdBin: b.bin(parts.etcd), CNIBin: b.bin(parts.cni), ContainerdBin: b.bin(parts.containerd),
		Debs: debs, Images: parts.images.archives(b.cache.entry(parts.images)),
	}, nil
}

// WithRpms returns the release with its rpm packages, and builds missing ones.
func (b *Builder) WithRpms(ctx context.Context, release Release) (Release, error) {
	parts, err := b.parts(ctx, release.Kubernetes)
	if err != nil {
		return Release{}, err
	}
	if err := b.ensure(ctx, parts.rpms()...); err != nil {
		return Release{}, err
	}
	release.Rpms, err = rpmsOf(b.cache, parts.rpms())
	return release, err
}

// ensure builds missing entries. The lookup needs no lock, and the lock is held for one entry at a
// time, so that a short build does not wait for a long one.
func (b *Builder) ensure(ctx context.Context, wanted ...recipe) error {
	for turn := 0; ; turn++ {
		missing := b.cache.missing(wanted...)
		if len(missing) == 0 {
			return nil
		}
		if turn > 0 {
			time.Sleep(machine.LockPoll * 3 / 2) // lets a waiting build take the lock
		}
		err := b.locked(ctx, func() error {
			if b.cache.has(missing[0]) {
				return nil // built by another process
			}
			return b.make(ctx, missing[0])
		})
		if err != nil {
			return err
		}
	}
}

// locked runs work with the build lock held, after removing leftovers.
func (b *Builder) locked(ctx context.Context, work func() error) error {
	unlock, err := b.cache.lock(ctx, b.report)
	if err != nil {
		return err
	}
	defer unlock()
	if err := b.cache.clear(); err != nil {
		return err
	}
	return work()
}

// make builds one entry.
func (b *Builder) make(ctx context.Context, r recipe) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return b.report.Step("build "+title(r), r.usually(), func() error {
		shop, err := b.openWorkshop(r)
		if err != nil {
			return err
		}
		defer shop.log.Close()
		partial, err := b.cache.begin(r)
		if err != nil {
			return err
		}
		if err := r.build(ctx, shop, partial); err != nil {
			err = fmt.Errorf("building %s: %w", title(r), err)
			if ctx.Err() != nil {
				return err // interrupted: the log does not explain it
			}
			return errors.Join(shop.explain(err), removeTree(partial))
		}
		return b.cache.finish(r, partial)
	})
}

// parts returns the recipes of a version.
func (b *Builder) parts(ctx context.Context, kubernetes string) (parts, error) {
	release, err := versions.Lookup(kubernetes)
	if err != nil {
		return parts{}, err
	}
	toolchain, err := b.toolchain(ctx)
	if err != nil {
		return parts{}, err
	}
	return partsOf(toolchain, release), nil
}

// toolchain returns the version of Go outside of any module: the go.mod of the current checkout
// must not select another one.
func (b *Builder) toolchain(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var out strings.Builder
	err := command{argv: []string{"go", "env", "GOVERSION"}, dir: "/", env: []string{"GOWORK=off"}}.run(ctx, &out, io.Discard, io.Discard)
	if err != nil {
		return "", fmt.Errorf("reading the version of Go: %w", err)
	}
	return strings.TrimSpace(out.String()), nil
}
