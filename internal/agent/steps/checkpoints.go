package steps

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// checkpoints are what the kubelet remembers of its pods from one start to the next. It panics at one that it cannot read. One was seen full of zeros after a
// power cut of a testbed disk; those are mounted with discard, which may be what destroyed it, so this says nothing about how the kubelet writes.
var checkpoints = []string{"allocated_pods_state", "actuated_pods_state", "cpu_manager_state", "memory_manager_state", "dra_manager_state"}

// setTornCheckpointsAside takes away what the kubelet cannot read and would not start with. It asks for that itself, and writes them anew.
func setTornCheckpointsAside(dir string) (torn []string, err error) {
	for _, name := range checkpoints {
		path := filepath.Join(dir, name)
		text, readErr := os.ReadFile(path)
		switch {
		case errors.Is(readErr, fs.ErrNotExist) || json.Valid(text):
			continue
		case readErr != nil:
			err = errors.Join(err, readErr)
			continue
		}
		if renameErr := os.Rename(path, path+".torn"); renameErr != nil {
			err = errors.Join(err, renameErr)
			continue
		}
		torn = append(torn, path)
	}
	return torn, err
}
