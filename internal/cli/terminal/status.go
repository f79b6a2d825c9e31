package terminal

import (
	"os"
	"reflect"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/document"
	"github.com/refit-dev/refit/internal/cli/text"
)

// StatusWriter writes the progress of an operation. The operation may be the same as before, except
// for the time.
type StatusWriter func(o *cliv1alpha1.Operation, now time.Time) error

// NewStatusWriter returns the writer for the streams: a line of JSON per change if json is set,
// otherwise a live view on a terminal and a line per change elsewhere.
func (s *Streams) NewStatusWriter(json bool) StatusWriter {
	if json {
		return (&jsonStatus{Streams: s}).write
	}
	if file, ok := s.Out.(*os.File); ok {
		if _, terminal := s.columns(s.Out); terminal {
			return (&liveStatus{Streams: s, terminal: file}).write
		}
	}
	return (&lineStatus{Streams: s}).write
}

// jsonStatus writes a line of JSON for each change.
type jsonStatus struct {
	*Streams
	last cliv1alpha1.Operation
}

func (t *jsonStatus) write(o *cliv1alpha1.Operation, _ time.Time) error {
	now := *o
	now.LeftSeconds = t.last.LeftSeconds // a second less is no change
	if reflect.DeepEqual(now, t.last) {
		return nil
	}
	t.last = *o
	line, err := document.Line(o)
	if err != nil {
		return err
	}
	return t.Print(line)
}

// lineStatus writes a line for each change.
type lineStatus struct {
	*Streams
	last *cliv1alpha1.Operation
}

func (t *lineStatus) write(o *cliv1alpha1.Operation, now time.Time) error {
	lines := text.OperationLines(t.last, o, now)
	t.last = o
	if lines == "" {
		return nil
	}
	return t.Print([]byte(lines))
}
