//go:build !linux

package keyring

import "runtime"

// available reports whether the system has a keyring.
func available(func(string) string) bool {
	return runtime.GOOS == "darwin" || runtime.GOOS == "windows"
}
