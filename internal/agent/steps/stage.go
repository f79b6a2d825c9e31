package steps

import (
	"context"
	"os"
	"path/filepath"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/packages"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// stage copies new binaries beside the old ones, so that a lack of disk space fails here, before
// the first change.
func stage(ctx context.Context, h *Host) error {
	inv, err := h.inventory()
	if err != nil {
		return err
	}
	for _, f := range inv.Files {
		if now, err := host.Digest(f.Path); err == nil && now == f.Will {
			continue
		}
		from, err := h.stored(ctx, f.Will)
		if err != nil {
			return err
		}
		if err := h.Effect("stage-"+f.Name, func() error { return host.Stage(from, f.Path, 0o755) }); err != nil {
			return err
		}
	}
	var files []string
	for _, p := range inv.Packages {
		file, err := h.packageFile(ctx, p)
		if err != nil {
			return err
		}
		files = append(files, file)
	}
	if len(files) == 0 {
		return nil
	}
	return h.driver(inv.Packages[0].Part).Check(ctx, files, packages.Options{})
}

// stored returns the path of a file in the store after checking its digest again.
func (h *Host) stored(ctx context.Context, digest string) (string, error) {
	files, err := h.files()
	if err != nil {
		return "", err
	}
	for _, f := range files {
		if f.Digest == digest {
			return h.Store.Path(digest), h.Store.Check(ctx, f.Blob)
		}
	}
	return "", node.ManualIntervention("NotInRelease", nil, "Run `refit retry`; if it fails again, the inventory of the host is from another ClusterRelease",
		"the ClusterRelease has no file %s", digest)
}

// tools copies the target's binaries that run before their installation.
func (h *Host) tools(ctx context.Context) error {
	files, err := h.files()
	if err != nil {
		return err
	}
	for _, f := range files {
		binary := toolOf(f)
		if binary == "" {
			continue
		}
		to := h.path("bin", binary)
		if exists(to) {
			continue
		}
		from, err := h.stored(ctx, f.Digest)
		if err != nil {
			return err
		}
		if driver := packages.Of(f.Kind); driver != nil {
			if from, err = unpack(ctx, driver, from, h.path("unpacked", f.Name), binary); err != nil {
				return err
			}
		}
		if err := copyTool(from, to); err != nil {
			return err
		}
	}
	return nil
}

// toolOf returns the binary of a file that runs before its installation, or "". The package of
// containerd has another name at each vendor.
func toolOf(f refitv1alpha1.ReleaseFile) string {
	switch {
	case f.Part == refitv1alpha1.PartKubeadm, f.Part == refitv1alpha1.PartKubelet:
		return f.Name
	case f.Part == refitv1alpha1.PartContainerd && (f.Name == "containerd" || f.Kind != refitv1alpha1.PackageBinary):
		return "containerd"
	}
	return ""
}

// unpack extracts a binary from a package.
func unpack(ctx context.Context, driver packages.Driver, file, dir, name string) (string, error) {
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if err := durable.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	to := filepath.Join(dir, name)
	return to, driver.Extract(ctx, file, "/usr/bin/"+name, to)
}

// copyTool copies an executable atomically.
func copyTool(from, to string) error {
	if err := durable.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	digest, err := host.Digest(from)
	if err != nil {
		return err
	}
	if err := host.Stage(from, to, 0o700); err != nil {
		return err
	}
	return host.Swap(to, "", digest)
}
