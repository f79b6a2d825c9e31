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
	dir, file, inactive := c.v1("memory"), "memory.usage_in_bytes", "total_inactive_file "
	if dir == "" {
		dir, file, inactive = c.unified(), "memory.current", "inactive_file "
	}
	usage, err := os.ReadFile(filepath.Join(dir, file))
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
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), inactive); ok {
			cached, err := strconv.ParseInt(rest, 10, 64)
			if err != nil {
				return 0, fmt.Errorf("reading memory: %w", err)
			}
			return max(used-cached, 0), nil
		}
	}
	return used, nil
}
