package phrase

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// FewNames is the number of names that a message lists before it folds them.
const FewNames = 6

// Duration is a duration in one unit, or in two where one would be too coarse.
func Duration(d time.Duration) string {
	switch {
	case d < 98*time.Second && d.Round(5*time.Second) != time.Minute: // so that three nodes of 90 s do not seem to take 6 min
		return fmt.Sprintf("%d s", max(5, int(d.Round(5*time.Second).Seconds())))
	case d < 90*time.Minute:
		return fmt.Sprintf("%d min", int(d.Round(time.Minute).Minutes()))
	case d < 36*time.Hour:
		d = d.Round(10 * time.Minute)
		return join2(d, time.Hour, "h", time.Minute, "min")
	}
	d = d.Round(time.Hour)
	return join2(d, 24*time.Hour, "d", time.Hour, "h")
}

func join2(d, big time.Duration, bigName string, small time.Duration, smallName string) string {
	out := fmt.Sprintf("%d %s", d/big, bigName)
	if rest := d % big / small; rest > 0 {
		out += fmt.Sprintf(" %d %s", rest, smallName)
	}
	return out
}

// Moment formats a time in UTC, to the second.
func Moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// Number writes 4997 as 4,997.
func Number(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Count writes "1 node" and "2 nodes".
func Count(n int, one string) string { return Number(n) + " " + Plural(n, one) }

// Plural writes "node" for one, and "nodes" for any other number.
func Plural(n int, one string) string {
	if n == 1 {
		return one
	}
	return one + "s"
}

// List joins parts as in "a, b and c".
func List(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1]
}

// Fold joins names in one line: all of them up to a number, else the first three and the last, so
// that the range is visible.
func Fold(names []string, most int) string {
	if len(names) <= most || len(names) <= 4 {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:3], ", ") + ", … " + names[len(names)-1]
}
