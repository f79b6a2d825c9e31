// Package terminaltest opens pseudo-terminals for tests.
package terminaltest

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// Open opens a pseudo-terminal: text that is written to one end is read from the other.
func Open(t *testing.T) (read, write *os.File) {
	t.Helper()
	read, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("there are no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { read.Close() })
	if err := unix.IoctlSetPointerInt(int(read.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Skipf("there are no pseudo-terminals here: %v", err)
	}
	number, err := unix.IoctlGetInt(int(read.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Skipf("there are no pseudo-terminals here: %v", err)
	}
	write, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { write.Close() })
	return read, write
}
