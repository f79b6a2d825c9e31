package steps

import (
	"errors"
	"io/fs"
	"maps"
	"path/filepath"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/host"
)

// shared reports whether software other than Refit and the package manager writes the files of a
// part. The DaemonSet of a CNI, such as Calico, writes its own plugins whenever it starts.
func shared(part refitv1alpha1.Part) bool { return part == refitv1alpha1.PartCNI }

// comparedFiles returns the digests of the files that Refit installed and nothing else may change.
func (h *Host) comparedFiles() map[string]string {
	out := maps.Clone(h.HostState.Files)
	maps.DeleteFunc(out, func(path, _ string) bool { return filepath.Dir(path) == cniDir })
	return out
}

// keptByOthers reports whether a shared file has neither its previous nor its new content, so that
// the upgrade and its rollback leave it.
func (f file) keptByOthers() (bool, error) {
	if !shared(f.Part) {
		return false, nil
	}
	state, err := host.SwapStateOf(f.Path, f.Was, f.Will)
	return state == host.Other, err
}

// right reports whether a file is the one of the ClusterRelease. A shared file must only exist.
func (f file) right() (bool, error) {
	now, err := host.Digest(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return now == f.Will || shared(f.Part), err
}
