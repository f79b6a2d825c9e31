package archive

import (
	"bytes"
	"io"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/redact"
)

// Text is the content of a part while it is produced: it is redacted, and the end of it is kept,
// where the cause of a failure is.
type Text struct {
	redacted *redact.Writer
	tail     tail
}

// NewText returns a Text of at most this many bytes.
func NewText(r *redact.Redactor, limit int64) *Text {
	t := &Text{tail: tail{limit: int(max(1, limit))}}
	t.redacted = r.NewWriter(&t.tail)
	return t
}

// Write adds text.
func (t *Text) Write(p []byte) (int, error) { return t.redacted.Write(p) }

// Part returns the part with the text.
func (t *Text) Part(p cliv1alpha1.BundlePart) Part {
	_ = t.redacted.Close() // a tail does not fail
	p.Redactions = t.redacted.Counts()
	content, cut := t.tail.content()
	p.Truncated = p.Truncated || cut
	return Part{BundlePart: p, Content: content}
}

var _ io.Writer = (*tail)(nil)

// tail keeps the last lines that were written.
type tail struct {
	limit int
	text  []byte
	cut   bool
}

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	if len(t.text) > t.limit+t.limit/4 {
		t.trim()
	}
	return len(p), nil
}

func (t *tail) trim() {
	if len(t.text) <= t.limit {
		return
	}
	t.cut = true
	rest := t.text[len(t.text)-t.limit:]
	if _, whole, ok := bytes.Cut(rest, []byte("\n")); ok {
		rest = whole
	}
	t.text = append(t.text[:0], rest...)
}

func (t *tail) content() (text []byte, cut bool) {
	t.trim()
	return t.text, t.cut
}
