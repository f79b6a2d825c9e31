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

// Tail returns the end of a unit's log, short enough for a status. It returns "" on error: a
// missing log must not hide the failure that it belongs to.
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

// readable removes control characters, which could act on a terminal.
func readable(text string) string {
	text = strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text))
	return refitv1alpha1.ClipFront(text, refitv1alpha1.MaxLogTail)
}
