package host

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/refit-dev/refit/internal/engine/durable"
)

// Digest is the digest of a file's content, "sha256:…". os.ErrNotExist passes through.
func Digest(path string) (string, error) { return digest(path, 0) }

func digest(path string, flags int) (string, error) {
	// O_NONBLOCK: opening a FIFO must not block the agent.
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|flags, 0)
	if err != nil {
		return "", durable.Explain(err, "read", path)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", durable.Explain(err, "read", path)
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("cannot read %s: not a regular file but %s", path, info.Mode())
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", durable.Explain(err, "read", path)
	}
	return digestOf(sum), nil
}

func digestOf(sum hash.Hash) string { return "sha256:" + hex.EncodeToString(sum.Sum(nil)) }
