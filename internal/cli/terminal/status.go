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
type StatusWriter = func(o *cliv1alpha1.Operation, now time.Time) error

// NewStatusWriter returns the writer for the streams: a line of JSON per change if json is set,
// otherwise a live view on a terminal and a line per change elsewhere.
func (s *Streams) NewStatusWriter(json bool) StatusWriter {
	return newWriter(s, json, presentation[cliv1alpha1.Operation]{
		lines: text.OperationLines, frame: text.Frame,
		timeless: func(o cliv1alpha1.Operation) cliv1alpha1.Operation { o.LeftSeconds = 0; return o }, // a second less is no change
	})
}

// NewBackupWriter is NewStatusWriter for a backup.
func (s *Streams) NewBackupWriter(json bool) func(b *cliv1alpha1.Backup, now time.Time) error {
	return newWriter(s, json, presentation[cliv1alpha1.Backup]{
		lines: text.BackupLines, frame: text.BackupFrame,
		timeless: func(b cliv1alpha1.Backup) cliv1alpha1.Backup { return b },
	})
}

// presentation is how a progress is written.
type presentation[T any] struct {
	// lines renders the changes since the last progress, which is nil at first.
	lines func(last, progress *T, now time.Time) string
	frame func(progress *T, p text.Page, rows int, now time.Time) string
	// timeless removes what changes with the time only.
	timeless func(T) T
}

func newWriter[T any](s *Streams, json bool, p presentation[T]) func(*T, time.Time) error {
	if json {
		return (&jsonStatus[T]{Streams: s, timeless: p.timeless}).write
	}
	if file, ok := s.Out.(*os.File); ok {
		if _, terminal := s.columns(s.Out); terminal {
			return (&liveStatus[T]{Streams: s, terminal: file, frame: p.frame}).write
		}
	}
	return (&lineStatus[T]{Streams: s, lines: p.lines}).write
}

// jsonStatus writes a line of JSON for each change.
type jsonStatus[T any] struct {
	*Streams
	timeless func(T) T
	last     *T
}

func (t *jsonStatus[T]) write(progress *T, _ time.Time) error {
	now := t.timeless(*progress)
	if t.last != nil && reflect.DeepEqual(now, *t.last) {
		return nil
	}
	t.last = &now
	line, err := document.Line(progress)
	if err != nil {
		return err
	}
	return t.Print(line)
}

// lineStatus writes a line for each change.
type lineStatus[T any] struct {
	*Streams
	lines func(last, progress *T, now time.Time) string
	last  *T
}

func (t *lineStatus[T]) write(progress *T, now time.Time) error {
	lines := t.lines(t.last, progress, now)
	t.last = progress
	if lines == "" {
		return nil
	}
	return t.Print([]byte(lines))
}
