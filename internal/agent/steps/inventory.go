package steps

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/packages"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// inventory lists the files and packages that the operation replaces, with their previous state. It
// is written once, before the first change.
type inventory struct {
	Files    []file `json:"files,omitempty"`
	Packages []pkg  `json:"packages,omitempty"`
	// Held are the packages that were on hold before, and Problems their faults at that time.
	Held     []string `json:"held,omitempty"`
	Problems []string `json:"problems,omitempty"`
	// Xattrs are the extended attributes of the files of packages, which package managers drop.
	Xattrs map[string]durable.Xattrs `json:"xattrs,omitempty"`
}

// file is a binary that is swapped in place.
type file struct {
	Part refitv1alpha1.Part `json:"part"`
	Name string             `json:"name"`
	Path string             `json:"path"`
	Was  string             `json:"was"` // digest; empty if the file did not exist
	Will string             `json:"will"`
}

// pkg is a package that is replaced.
type pkg struct {
	Part refitv1alpha1.Part `json:"part"`
	Name string             `json:"name"`
	Was  string             `json:"was"` // version; empty if the package was not installed
	Will string             `json:"will"`
	Blob string             `json:"blob"` // digest of the package file
}

const inventoryFile = "inventory.json"

func (h *Host) inventory() (inventory, error) {
	var inv inventory
	err := h.readJSON(inventoryFile, &inv)
	return inv, err
}

// installed returns the packages that were installed before the operation.
func (inv inventory) installed() []string {
	var names []string
	for _, p := range inv.Packages {
		if p.Was != "" {
			names = append(names, p.Name)
		}
	}
	return names
}

func (inv inventory) filesOf(parts ...refitv1alpha1.Part) []file {
	return filter(inv.Files, func(f file) bool { return slices.Contains(parts, f.Part) })
}

func (inv inventory) packagesOf(parts ...refitv1alpha1.Part) []pkg {
	return filter(inv.Packages, func(p pkg) bool { return slices.Contains(parts, p.Part) })
}

func filter[T any](list []T, keep func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(list), func(each T) bool { return !keep(each) })
}

// takeInventory inspects the host before the first change.
func (h *Host) takeInventory(ctx context.Context) (inventory, error) {
	var inv inventory
	files, err := h.files()
	if err != nil {
		return inv, err
	}
	for _, f := range files {
		if driver := h.driver(f.Part); driver != nil {
			p, err := packageBefore(ctx, driver, f)
			if err != nil {
				return inv, err
			}
			inv.Packages = append(inv.Packages, p)
			continue
		}
		path, err := BinaryPath(ctx, h.Systemd, f.Part, f.Name)
		if err != nil {
			return inv, err
		}
		was, err := host.Digest(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return inv, err
		}
		inv.Files = append(inv.Files, file{Part: f.Part, Name: f.Name, Path: path, Was: was, Will: f.Digest})
	}
	if len(inv.Packages) > 0 {
		driver := h.driver(inv.Packages[0].Part)
		if inv.Held, err = driver.Held(ctx); err == nil {
			inv.Problems, err = driver.Verify(ctx, inv.installed())
		}
		if err == nil {
			inv.Xattrs, err = packageXattrs(ctx, driver, inv.installed())
		}
	}
	return inv, err
}

// packageBefore refuses a half-installed package: it would count as not installed before, and a
// rollback would leave the new version.
func packageBefore(ctx context.Context, driver packages.Driver, f refitv1alpha1.ReleaseFile) (pkg, error) {
	before, err := driver.Settled(ctx, f.Name)
	return pkg{Part: f.Part, Name: f.Name, Was: before[f.Name], Will: f.Version, Blob: f.Digest}, err
}

// files returns the files of the ClusterRelease that this host needs.
func (h *Host) files() ([]refitv1alpha1.ReleaseFile, error) {
	var out []refitv1alpha1.ReleaseFile
	id, err := host.Identify()
	if err != nil {
		return nil, err
	}
	for _, part := range h.Upgrade.Parts {
		files, err := h.Release.For("linux", id.Arch, h.Upgrade.Part(part))
		if err != nil {
			return nil, err
		}
		out = append(out, files...)
	}
	return out, nil
}

// BinaryNotFound is the reason of the failure of BinaryPath for a part that is not installed.
const BinaryNotFound = "BinaryNotFound"

// BinaryPath returns where a binary is or belongs: the path in its service, the path on which it is
// found, or the directory of the main binary of its part.
func BinaryPath(ctx context.Context, systemd Services, part refitv1alpha1.Part, name string) (string, error) {
	if part == refitv1alpha1.PartCNI {
		return filepath.Join(cniDir, name), nil
	}
	if unit := serviceUnits[name]; unit != "" {
		u, err := systemd.Unit(ctx, unit)
		if err != nil {
			return "", err
		}
		path, err := serviceBinary(u, unit, name)
		if path != "" || err != nil {
			return path, err
		}
	}
	if found, err := host.LookPath(name); err == nil {
		return filepath.EvalSymlinks(found)
	}
	main := map[refitv1alpha1.Part]string{
		refitv1alpha1.PartKubeadm: "kubelet", refitv1alpha1.PartKubectl: "kubelet",
		refitv1alpha1.PartContainerd: "containerd", refitv1alpha1.PartRunc: "containerd",
	}[part]
	if main == "" || main == name {
		return "", node.ManualIntervention(BinaryNotFound, nil, "Check that "+name+" is installed and its service runs, then run `refit retry`",
			"cannot find %s on this host", name)
	}
	beside, err := BinaryPath(ctx, systemd, part, main)
	return filepath.Join(filepath.Dir(beside), name), err
}

// serviceUnits are the units of the binaries that systemd starts.
var serviceUnits = map[string]string{"kubelet": kubeletUnit, "containerd": containerdUnit}

// serviceBinary refuses a service that starts a script: the swap would overwrite it.
func serviceBinary(u host.Unit, unit, name string) (string, error) {
	path, err := u.Binary(name)
	if wrapper, ok := errors.AsType[*host.WrapperError](err); ok {
		return "", node.ManualIntervention("ServiceWrapped", nil,
			"Let ExecStart= of "+unit+" start the "+name+" binary itself, move what the other file does to a drop-in "+
				"(ExecStartPre=, Environment=), then run `refit retry`",
			"%v; Refit does not replace it", wrapper)
	}
	return path, err
}
