package backup

import (
	"errors"
	"io/fs"

	"sigs.k8s.io/yaml"

	"github.com/refit-dev/refit/internal/upgrade/etcdbackup"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// ReadPins reads the recipients and locations that this host allows. A host without the file allows
// none.
func ReadPins(path string) (etcdbackup.Pins, error) {
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
