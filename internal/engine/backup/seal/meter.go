package seal

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"

	"github.com/refit-dev/refit/internal/upgrade/backup"
)

// meter counts and hashes bytes.
type meter struct {
	size int64
	sum  hash.Hash
}

func newMeter() *meter { return &meter{sum: sha256.New()} }

func (m *meter) add(p []byte) {
	m.size += int64(len(p))
	_, _ = m.sum.Write(p) // a hash never fails
}

func (m *meter) content() backup.Content {
	return backup.Content{Size: m.size, Digest: "sha256:" + hex.EncodeToString(m.sum.Sum(nil))}
}

// meteredWriter measures what a writer has accepted.
type meteredWriter struct {
	*meter
	to io.Writer
}

func (w meteredWriter) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	w.add(p[:n])
	return n, err
}

// Measure reads stored bytes to their end. More than limit are an error.
func Measure(from io.Reader, limit int64) (backup.Content, error) {
	s := newSource(from, limit)
	s.allow(backup.MaxPart)
	if _, err := io.Copy(io.Discard, s); err != nil {
		return backup.Content{}, err
	}
	return s.content(), nil
}
