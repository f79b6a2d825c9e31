package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/refit-dev/refit/internal/agent/backup"
	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/upgrade/etcdbackup"
)

//go:embed unit/refit-agent.service
var unit []byte

// bundle is what is installed on a host.
type bundle struct {
	binary, unit []byte
	keys         []key
	// overlay changes the settings of the host; nil keeps them.
	overlay func(settings.Settings) (settings.Settings, error)
	// owns is the prefix of the names of keys that the bundle owns: a key with this prefix that is
	// not in the bundle is removed. An empty prefix owns none.
	owns string
	// stores are the recipients and locations of backups to pin on a control plane host; nil: none.
	// localStore is set if the local directory is one of them.
	stores     []byte
	localStore bool
}

// key is a public key, and the name of its file on the host.
type key struct {
	id, name string
	text     []byte
}

// Manually pinned keys stay when the keys of the cluster change, so their names differ.
const (
	manual      = ""
	fromCluster = "cluster."
)

// newBundle returns a bundle with the running binary.
func newBundle() (*bundle, error) {
	// This path works wherever the binary was started, also in a container.
	binary, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		return nil, fmt.Errorf("cannot read this binary: %w", err)
	}
	return &bundle{binary: binary, unit: unit}, nil
}

// addKeys reads public keys.
func (b *bundle) addKeys(whose string, paths ...string) error {
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		public, err := artifact.ParsePublic(text)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		name := whose + strings.NewReplacer("SHA256:", "", "/", "_", "+", "-").Replace(public.ID) + ".pem"
		b.keys = append(b.keys, key{id: public.ID, name: name, text: text})
	}
	return nil
}

// addStoresOf reads the pins of backups in a directory, such as a mounted ConfigMap, if there are
// any.
func (b *bundle) addStoresOf(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, filepath.Base(backup.PinsFile)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot read the pins of backups: %w", err)
	}
	var pins etcdbackup.Pins
	if err := yaml.UnmarshalStrict(text, &pins); err != nil {
		return fmt.Errorf("cannot read the pins of backups: %w", err)
	}
	b.stores, b.localStore = text, slices.Contains(pins.Locations, etcdbackup.LocalDirectory)
	return nil
}

// addKeysOf reads all public keys of a directory, such as a mounted ConfigMap.
func (b *bundle) addKeysOf(whose, dir string) error {
	paths, err := filepath.Glob(filepath.Join(dir, "*.pem"))
	if err != nil {
		return err
	}
	b.owns = whose
	return b.addKeys(whose, paths...)
}
