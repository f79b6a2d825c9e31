package host

import (
	"context"
	"strconv"
	"strings"
	"time"
	"unicode"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

const tailLines = 40

// Tail is the end of a unit's log since a time, short enough for a status. Without one it is empty: a log is told along with a failure, never instead of one.
func Tail(ctx context.Context, unit string, since time.Time, lines int) string {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := Run(ctx, nil, "journalctl", "--quiet", "--no-pager", "--output=cat",
		"--lines="+strconv.Itoa(lines), "--since=@"+strconv.FormatInt(since.Unix(), 10), "--unit="+unit)
	if err != nil {
		return ""
	}
	return readable(out.Stdout)
}

// readable keeps what others wrote from acting on a terminal.
func readable(text string) string {
	text = strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text))
	return refitv1alpha1.ClipFront(text, refitv1alpha1.MaxLogTail)
}
