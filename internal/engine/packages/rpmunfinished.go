package packages

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/refit-dev/refit/internal/engine/durable"
)

// unfinishedList names the packages that Install has started to install. rpm writes a package to
// its database after it has replaced the files: without the list, a kill in between would leave the
// files of one version and the database entry of the other.
const unfinishedList = "/var/lib/rpm-state/refit-unfinished.json"

// unfinished returns the names in the list.
func (r rpm) unfinished() (map[string]bool, error) {
	text, err := os.ReadFile(r.onDisk(unfinishedList))
	if errors.Is(err, os.ErrNotExist) {
		return map[string]bool{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the list of unfinished packages: %w", err)
	}
	var names []string
	if err := json.Unmarshal(text, &names); err != nil {
		return nil, fmt.Errorf("cannot read the list of unfinished packages: %w", err)
	}
	out := map[string]bool{}
	for _, name := range names {
		out[name] = true
	}
	return out, nil
}

// setUnfinished adds names to the list, or removes them.
func (r rpm) setUnfinished(names []string, unfinished bool) error {
	list, err := r.unfinished()
	if err != nil {
		return err
	}
	before := maps.Clone(list)
	for _, name := range names {
		delete(list, name)
		if unfinished {
			list[name] = true
		}
	}
	path := r.onDisk(unfinishedList)
	switch {
	case maps.Equal(list, before):
		return nil
	case len(list) == 0:
		return durable.Remove(path)
	}
	text, err := json.Marshal(slices.Sorted(maps.Keys(list)))
	if err != nil {
		return fmt.Errorf("cannot write the list of unfinished packages: %w", err)
	}
	if err := durable.MkdirAll(filepath.Dir(path), 0o755); err != nil { // the mode that distributions use
		return err
	}
	return durable.WriteFile(path, text, 0o600)
}
