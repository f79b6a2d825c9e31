package terminal

import (
	"fmt"
	"io"
	"os"
)

type discard struct{ io.Writer }

func (discard) Close() error { return nil }

// OpenLog opens the log of the controllers, which must not mix with the output.
func OpenLog(name string) (io.WriteCloser, error) {
	if name == "" {
		return discard{io.Discard}, nil
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot open the log: %w", err)
	}
	return file, nil
}
