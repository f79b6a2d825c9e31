package backup

import (
	"errors"
	"io/fs"
	"path/filepath"

	"sigs.k8s.io/yaml"

	"github.com/refit-dev/refit/internal/upgrade/etcdbackup"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// ClusterPins is the prefix of the name of the file with the pins that `refit install` distributes.
// Those of the other file are pinned manually, and stay when the former change.
const ClusterPins = "cluster."

// ReadPins reads the recipients and locations that this host allows: those that are pinned manually
// and those of `refit install`. A host without both files allows none.
func ReadPins(path string) (etcdbackup.Pins, error) {
	manual, err := readPins(path)
	if err != nil {
		return etcdbackup.Pins{}, err
	}
	distributed, err := readPins(filepath.Join(filepath.Dir(path), ClusterPins+filepath.Base(path)))
	if err != nil {
		return etcdbackup.Pins{}, err
	}
	return manual.With(distributed), nil
}

func readPins(path string) (etcdbackup.Pins, error) {
	text, err := readProtected(path, 0o022)
	if errors.Is(err, fs.ErrNotExist) {
		return etcdbackup.Pins{}, nil
	}
	if err != nil {
		return etcdbackup.Pins{}, err
	}
	var pins etcdbackup.Pins
	if err := yaml.UnmarshalStrict(text, &pins); err != nil {
		return etcdbackup.Pins{}, node.ManualIntervention("PinsInvalid", err, "Fix "+path, "cannot read the pinned recipients and locations")
	}
	return pins, nil
}
