package agent

import (
	"fmt"
	"os"
	"slices"

	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// recordCluster records the cluster of an upgrade.
func recordCluster(u *node.Upgrade, path string) (err error) {
	if u.CA, err = host.Digest(path); err != nil {
		return err
	}
	u.CAs, err = caKeys(path)
	return err
}

// sameCluster reports whether the host is still in the cluster of an upgrade.
func sameCluster(u *node.Upgrade, path string) bool {
	now, err := host.Digest(path)
	if err != nil || u.CA == "" || now == u.CA {
		return true
	}
	keys, err := caKeys(path)
	return err == nil && slices.ContainsFunc(keys, func(key string) bool { return slices.Contains(u.CAs, key) })
}

// caKeys returns the digests of the public keys of all CA certificates in a file. A renewed CA
// keeps its key.
func caKeys(path string) ([]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	keys, err := kubeadm.CAKeys(text)
	if err != nil {
		return nil, fmt.Errorf("cannot read the CA certificates in %s: %w", path, err)
	}
	return keys, nil
}
