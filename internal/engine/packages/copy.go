package packages

import (
	"fmt"
	"io"
	"os"
)

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("cannot copy: %w", err)
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("cannot copy %s: %w", from, err)
	}
	if _, err := io.Copy(out, in); err != nil {
		_ = out.Close()
		return fmt.Errorf("cannot copy %s: %w", from, err)
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("cannot copy %s: %w", from, err)
	}
	return nil
}
