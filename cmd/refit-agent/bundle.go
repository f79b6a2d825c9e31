package main

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/engine/artifact"
)

//go:embed unit/refit-agent.service
var unit []byte

// bundle is what comes onto a host.
type bundle struct {
	program, unit []byte
	keys          []key
	// over writes settings over those that the host has; nil: they stay.
	over func(settings.Settings) (settings.Settings, error)
	// owns is the beginning of the names of keys that are all in the bundle: one on the host that is not goes. Empty: none does.
	owns string
}

// key is a public key, and the name of its file on the host.
type key struct {
	id, name string
	text     []byte
}

// Keys that were pinned by hand stay when the cluster has others, so their names differ.
const (
	byHand    = ""
	byCluster = "cluster."
)

// newBundle is one with the program that runs now.
func newBundle() (*bundle, error) {
	// By this name it is found wherever it was started from, and also in a container.
	program, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		return nil, fmt.Errorf("reading this program: %w", err)
	}
	return &bundle{program: program, unit: unit}, nil
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

// addKeysOf reads all public keys of a directory, which may be a ConfigMap's.
func (b *bundle) addKeysOf(whose, dir string) error {
	paths, err := filepath.Glob(filepath.Join(dir, "*.pem"))
	if err != nil {
		return err
	}
	b.owns = whose
	return b.addKeys(whose, paths...)
}
