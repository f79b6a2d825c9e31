package terminal

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/refit-dev/refit/internal/cli/text"
)

// liveStatus draws each frame over the one before, at the position of the cursor. The last one
// remains.
type liveStatus[T any] struct {
	*Streams
	terminal *os.File
	frame    func(progress *T, p text.Page, rows int, now time.Time) string
	last     string
	lines    int // of the last frame
}

func (t *liveStatus[T]) write(progress *T, now time.Time) error {
	columns, rows := sizeOf(t.terminal)
	frame := t.frame(progress, text.Page{Width: columns, Color: t.colors(t.Out)}, rows, now)
	if frame == t.last {
		return nil
	}
	back := ""
	if t.lines > 0 {
		back = fmt.Sprintf("\x1b[%dA\r\x1b[J", t.lines) // to the first line, and erase below
	}
	t.last, t.lines = frame, strings.Count(frame, "\n")
	return t.Print([]byte(back + frame))
}
