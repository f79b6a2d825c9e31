package machine

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// WorkingSet returns the memory in bytes that the cgroup uses without inactive file cache, as the
// kubelet counts it.
func (c Cgroup) WorkingSet() (int64, error) {
	dir := c.controller("memory")
	usage, err := os.ReadFile(filepath.Join(dir, "memory.usage_in_bytes"))
	if err != nil {
		return 0, fmt.Errorf("reading memory: %w", err)
	}
	used, err := strconv.ParseInt(strings.TrimSpace(string(usage)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("reading memory: %w", err)
	}
	stat, err := os.ReadFile(filepath.Join(dir, "memory.stat"))
	if err != nil {
		return 0, fmt.Errorf("reading memory: %w", err)
	}
	for line := range strings.Lines(string(stat)) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "total_inactive_file "); ok {
			inactive, err := strconv.ParseInt(rest, 10, 64)
			if err != nil {
				return 0, fmt.Errorf("reading memory: %w", err)
			}
			return max(used-inactive, 0), nil
		}
	}
	return used, nil
}
