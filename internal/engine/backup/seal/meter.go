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

// measured is how much Measure reads at once. A store hands over what it reads between goroutines.
const measured = 256 << 10

// Measure reads stored bytes to their end. More than limit are an error.
func Measure(from io.Reader, limit int64) (backup.Content, error) {
	s := newSource(from, limit)
	s.allow(backup.MaxPart)
	for buffer := make([]byte, measured); ; {
		_, err := s.Read(buffer)
		if err == io.EOF { //nolint:errorlint // an error that wraps io.EOF is no end
			return s.content(), nil
		}
		if err != nil {
			return backup.Content{}, err
		}
	}
}
