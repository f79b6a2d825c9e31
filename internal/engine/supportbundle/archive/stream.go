package archive

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"
)

// A stream begins and ends with these lines. Other output is no part of a host.
const (
	streamBegin = "refit-support-bundle 1"
	streamEnd   = "end "
)

// lineBytes is how much a line has before it is encoded. The kubelet splits longer lines.
const lineBytes = 9 << 10

// ErrIncomplete is the error of a stream without its end, or with another content.
var ErrIncomplete = errors.New("the stream is not complete")

// ErrNoStream is the error of a log that is something else.
var ErrNoStream = errors.New("the log is not a support bundle")

// StreamWriter writes an archive as lines of text.
type StreamWriter struct {
	to      *bufio.Writer
	digest  hash.Hash
	line    []byte
	started bool
}

// NewStreamWriter returns a StreamWriter. Close it: a stream without its end is not accepted.
func NewStreamWriter(to io.Writer) *StreamWriter {
	return &StreamWriter{to: bufio.NewWriter(to), digest: sha256.New()}
}

func (s *StreamWriter) Write(p []byte) (int, error) {
	s.begin()
	s.digest.Write(p)
	s.line = append(s.line, p...)
	for len(s.line) >= lineBytes {
		s.print(s.line[:lineBytes])
		s.line = s.line[lineBytes:]
	}
	return len(p), nil // Close returns the error of the bufio.Writer
}

func (s *StreamWriter) begin() {
	if !s.started {
		_, _ = s.to.WriteString(streamBegin + "\n")
		s.started = true
	}
}

func (s *StreamWriter) print(part []byte) {
	_, _ = s.to.WriteString(base64.StdEncoding.EncodeToString(part) + "\n")
}

// Close writes the end.
func (s *StreamWriter) Close() error {
	s.begin()
	if len(s.line) > 0 {
		s.print(s.line)
	}
	_, _ = s.to.WriteString(streamEnd + hex.EncodeToString(s.digest.Sum(nil)) + "\n")
	return s.to.Flush()
}

// ReadStream returns the archive of a stream. The bytes before an error are returned with it.
func ReadStream(from io.Reader, limit int64) ([]byte, error) {
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 0, 16<<10), 64<<10)
	if !lines.Scan() || strings.TrimSpace(lines.Text()) != streamBegin {
		return nil, errors.Join(ErrNoStream, lines.Err())
	}
	var out bytes.Buffer
	digest := sha256.New()
	for lines.Scan() {
		if want, ok := strings.CutPrefix(lines.Text(), streamEnd); ok {
			if want != hex.EncodeToString(digest.Sum(nil)) {
				return out.Bytes(), fmt.Errorf("%w: it has another digest", ErrIncomplete)
			}
			return out.Bytes(), nil
		}
		part, err := base64.StdEncoding.DecodeString(lines.Text())
		if err != nil {
			return out.Bytes(), fmt.Errorf("%w: %w", ErrIncomplete, err)
		}
		if int64(out.Len()+len(part)) > limit {
			return out.Bytes(), fmt.Errorf("%w: it is larger than %d bytes", ErrIncomplete, limit)
		}
		out.Write(part)
		digest.Write(part)
	}
	return out.Bytes(), errors.Join(ErrIncomplete, lines.Err())
}
