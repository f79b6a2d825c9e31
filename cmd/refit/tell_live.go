package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/text"
)

// liveTeller draws one frame over the other, at the place where the cursor is. The last one stays.
type liveTeller struct {
	*app
	terminal *os.File
	last     string
	lines    int // of the last frame
}

func (t *liveTeller) tell(o *cliv1alpha1.Operation, now time.Time) error {
	columns, rows := sizeOf(t.terminal)
	frame := text.Frame(o, text.Page{Width: columns, Color: t.colors(t.out)}, rows, now)
	if frame == t.last {
		return nil
	}
	back := ""
	if t.lines > 0 {
		back = fmt.Sprintf("\x1b[%dA\r\x1b[J", t.lines) // to its first line, and away with what is below
	}
	t.last, t.lines = frame, strings.Count(frame, "\n")
	return t.write([]byte(back + frame))
}
