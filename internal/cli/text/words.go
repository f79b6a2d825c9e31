package text

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
)

// about says an expected time as people do, and no more exactly than it is known.
func about(e cliv1alpha1.Estimate) string {
	if e.Seconds <= 0 {
		return "no time"
	}
	return "about " + duration(e)
}

// roughly is about for a column of times.
func roughly(e cliv1alpha1.Estimate) string {
	if e.Seconds <= 0 {
		return ""
	}
	return "~" + duration(e)
}

func duration(e cliv1alpha1.Estimate) string { return span(time.Duration(e.Seconds) * time.Second) }

// span says a time in one unit, or two where one would be too coarse.
func span(d time.Duration) string {
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

// number writes 4997 as 4,997.
func number(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// count writes "1 node" and "2 nodes".
func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(n) + " " + one + "s"
}

// sentence lists parts as people do: "a, b and c".
func sentence(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1]
}

// fold writes a list of names in one line: the first few, and the last one, so that a reader sees where it begins and ends.
func fold(names []string, most int) string {
	if len(names) <= most || len(names) <= 4 {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:3], ", ") + ", … " + names[len(names)-1]
}
