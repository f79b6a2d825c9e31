package main

import (
	"io/fs"
	"path/filepath"

	"github.com/refit-dev/refit/internal/agent/backup"
	"github.com/refit-dev/refit/internal/upgrade/etcdbackup"
)

// apiServerManifest exists on every control plane host of kubeadm.
const apiServerManifest = "/etc/kubernetes/manifests/kube-apiserver.yaml"

// compareStores pins the recipients and locations of backups on a control plane host, and creates
// the directory of the BackupStore that `refit install` creates. Other directories are mounts,
// which Refit does not create.
func (s *site) compareStores(out *changes, b *bundle) error {
	path := s.path(filepath.Join(filepath.Dir(backup.PinsFile), backup.ClusterPins+filepath.Base(backup.PinsFile)))
	if b.stores == nil || !exists(s.path(apiServerManifest)) {
		if b.owns != "" && exists(path) {
			*out = append(*out, change{path: path})
		}
		return nil
	}
	if dir := s.path(etcdbackup.LocalDirectory); b.localStore && !exists(dir) {
		*out = append(*out, change{dir, []byte{}, fs.ModeDir | 0o700, 0o755})
	}
	return out.add(change{path, b.stores, 0o600, 0o700})
}
