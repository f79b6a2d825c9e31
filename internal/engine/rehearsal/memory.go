package rehearsal

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// AvailableMemory returns MemAvailable of the host.
func AvailableMemory() (uint64, error) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, fmt.Errorf("cannot read the memory of the host: %w", err)
	}
	return availableIn(string(text))
}

func availableIn(text string) (uint64, error) {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "MemAvailable:"); ok {
			var kilobytes uint64
			if _, err := fmt.Sscanf(rest, "%d kB", &kilobytes); err != nil {
				return 0, fmt.Errorf("cannot parse the memory of the host: %w", err)
			}
			return kilobytes << 10, nil
		}
	}
	return 0, errors.New("cannot read the memory of the host: no MemAvailable")
}
