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

// stage puts new programs beside the old ones: what can fail for want of room fails here, where nothing has changed yet.
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

// stored is where a file lies in the store, after its digest was read once more.
func (h *Host) stored(ctx context.Context, digest string) (string, error) {
	blobs, err := h.Blobs()
	if err != nil {
		return "", err
	}
	for _, b := range blobs {
		if b.Digest == digest {
			return h.Store.Path(digest), h.Store.Check(ctx, b)
		}
	}
	return "", node.ManualIntervention("NotInRelease", nil, "refit retry; if it stays, the host's inventory is from another ClusterRelease",
		"the file %s is not in the ClusterRelease", digest)
}

// tools makes the target's programs runnable before they are installed.
func (h *Host) tools(ctx context.Context) error {
	files, err := h.files()
	if err != nil {
		return err
	}
	for _, f := range files {
		if f.Part != refitv1alpha1.PartKubeadm && f.Part != refitv1alpha1.PartKubelet && f.Name != "containerd" {
			continue
		}
		to := h.path("bin", f.Name)
		if exists(to) {
			continue
		}
		from, err := h.stored(ctx, f.Digest)
		if err != nil {
			return err
		}
		if f.Kind != refitv1alpha1.PackageBinary {
			if from, err = unpack(ctx, from, h.path("unpacked", f.Name), f.Name); err != nil {
				return err
			}
		}
		if err := artifactTool(from, to); err != nil {
			return err
		}
	}
	return nil
}

// unpack takes one program out of a Debian package without installing it.
func unpack(ctx context.Context, deb, dir, name string) (string, error) {
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if err := durable.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if _, err := host.Run(ctx, nil, "dpkg-deb", "--extract", deb, dir); err != nil {
		return "", err
	}
	return filepath.Join(dir, "usr/bin", name), nil
}

// artifactTool makes a tool of a file: copied whole, or not at all.
func artifactTool(from, to string) error {
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
