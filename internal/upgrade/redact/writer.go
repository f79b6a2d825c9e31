package redact

import (
	"bytes"
	"io"
	"strings"
)

// maxLine bounds a line, and so the memory of a Writer. The rest of a longer line is dropped: a
// secret at the cut could not be recognized.
const maxLine = 1 << 20

const cut = "[rest of the line dropped]"

// Writer redacts a stream of text. Close it, since it holds back an incomplete line.
type Writer struct {
	to     io.Writer
	redact *Redactor
	state  state
	counts Counts
	line   []byte // incomplete
	over   bool   // the line is too long
}

// NewWriter returns a Writer that writes what remains.
func (r *Redactor) NewWriter(to io.Writer) *Writer {
	return &Writer{to: to, redact: r, counts: Counts{}}
}

// Write redacts complete lines and holds back the last one.
func (w *Writer) Write(p []byte) (int, error) {
	written := len(p)
	for len(p) > 0 {
		line, rest, complete := bytes.Cut(p, []byte("\n"))
		w.hold(line)
		if complete {
			if err := w.flush("\n"); err != nil {
				return 0, err
			}
		}
		p = rest
	}
	return written, nil
}

func (w *Writer) hold(part []byte) {
	if left := maxLine - len(w.line); len(part) > left {
		part, w.over = part[:left], true
	}
	w.line = append(w.line, part...)
}

// Close writes the last line if it has no end.
func (w *Writer) Close() error {
	if len(w.line) == 0 {
		return nil
	}
	return w.flush("")
}

// Counts returns the redactions so far.
func (w *Writer) Counts() Counts { return w.counts }

func (w *Writer) flush(end string) error {
	line := string(w.line)
	if w.over {
		// The cut may have split the last word.
		line = line[:max(0, strings.LastIndexAny(line, " \t,;&"))]
		end = cut + end
	}
	w.line, w.over = w.line[:0], false
	spans := merged(append(w.state.spans(w.redact, line), w.redact.spans(line)...))
	_, err := io.WriteString(w.to, replace(line, spans, w.counts)+end)
	return err
}
