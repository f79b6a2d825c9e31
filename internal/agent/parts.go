package agent

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/steps"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/packages"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// mainBinary is the file whose origin shows how a part was installed.
var mainBinary = map[refitv1alpha1.Part]string{
	refitv1alpha1.PartKubeadm: "kubeadm", refitv1alpha1.PartKubelet: "kubelet", refitv1alpha1.PartKubectl: "kubectl",
	refitv1alpha1.PartContainerd: "containerd", refitv1alpha1.PartRunc: "runc", refitv1alpha1.PartCNI: "loopback",
}

// partFinder finds the parts of a host. Tests replace its functions.
type partFinder struct {
	path   func(part refitv1alpha1.Part) (string, error)
	detect func(path string) (kind refitv1alpha1.PackageKind, owner string, err error)
}

// plugins returns the CNI plugins in a directory that a ClusterRelease can have.
func plugins(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	var out []string
	for _, entry := range entries {
		if part, known := artifact.PartOfBinary(entry.Name()); known && part == refitv1alpha1.PartCNI && !entry.IsDir() {
			out = append(out, entry.Name())
		}
	}
	return out, err
}

// installedParts returns the parts of this host, and how each is installed.
func (a *Agent) installedParts(ctx context.Context) ([]refitv1alpha1.PartFacts, error) {
	return partFinder{
		path: func(part refitv1alpha1.Part) (string, error) {
			return steps.BinaryPath(ctx, a.systemd, part, mainBinary[part])
		},
		detect: func(path string) (refitv1alpha1.PackageKind, string, error) { return packages.Detect(ctx, path) },
	}.all()
}

func (f partFinder) all() ([]refitv1alpha1.PartFacts, error) {
	var out []refitv1alpha1.PartFacts
	for _, part := range node.Parts() {
		facts, installed, err := f.find(part)
		if err != nil {
			return nil, err
		}
		if installed {
			out = append(out, facts)
		}
	}
	return out, nil
}

// find determines how a part is installed. A part whose main binary does not exist, or belongs to
// the package of another part, as runc does in containerd.io, is not installed on its own.
func (f partFinder) find(part refitv1alpha1.Part) (facts refitv1alpha1.PartFacts, installed bool, err error) {
	path, err := f.path(part)
	if err == nil {
		_, err = os.Stat(path)
	}
	failure, failed := errors.AsType[*node.Failure](err)
	switch {
	case part == refitv1alpha1.PartKubelet && err != nil:
		return facts, false, err
	case errors.Is(err, fs.ErrNotExist), failed && failure.Reason == steps.BinaryNotFound:
		return facts, false, nil
	case err != nil:
		return facts, false, err
	}
	kind, owner, err := f.detect(path)
	if of, known := artifact.PartOfPackage(owner); known && of != part {
		return facts, false, err
	}
	facts = refitv1alpha1.PartFacts{Part: part, Kind: kind, Package: owner}
	if err == nil && part == refitv1alpha1.PartCNI && kind == refitv1alpha1.PackageBinary {
		facts.Files, err = plugins(filepath.Dir(path))
	}
	return facts, true, err
}
