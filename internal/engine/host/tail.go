package host

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// tail keeps the end of its input.
type tail struct {
	mu   sync.Mutex // two streams write to one tail
	most int
	text []byte
	cut  bool
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if len(t.text) > 2*t.most {
		t.text, t.cut = append(t.text[:0], t.text[len(t.text)-t.most:]...), true
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := t.text[max(0, len(t.text)-t.most):]
	if t.cut || len(text) < len(t.text) {
		// Begin with a whole line, if there is one.
		if at := bytes.IndexByte(text, '\n'); at >= 0 && at+1 < len(text) {
			text = text[at+1:]
		}
	}
	return strings.ToValidUTF8(string(text), "�")
}

// both writes to two writers.
type both [2]io.Writer

func (b both) Write(p []byte) (int, error) {
	_, _ = b[0].Write(p) // A tail accepts everything.
	return b[1].Write(p)
}
