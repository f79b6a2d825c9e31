package text

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

// active writes a line for each active node, or for only the first of many.
func (w *writer) active(o *cliv1alpha1.Operation, now time.Time, most int) {
	if len(o.Active) == 0 {
		return
	}
	w.blank()
	shown := o.Active[:min(len(o.Active), most)]
	name, clock := 0, 0
	for i := range shown {
		name = max(name, min(mostName, utf8.RuneCountInString(Clean(shown[i].Node))))
		clock = max(clock, len(since(&shown[i], now)))
	}
	for i := range shown {
		n := &shown[i]
		activity, style := does(n)
		w.hangTwo(
			as(bold, fmt.Sprintf("  %-*s", name, Clean(n.Node))), as(plain, fmt.Sprintf("  %*s", clock, since(n, now))),
			2+name+2+clock+2, as(style, activity))
	}
	if more := len(o.Active) - len(shown); more > 0 {
		w.para(2, as(dim, fmt.Sprintf("and %s more active", phrase.Number(more))))
	}
}

func since(n *cliv1alpha1.NodeProgress, now time.Time) string {
	if n.Since.IsZero() {
		return ""
	}
	return Clock(now.Sub(n.Since))
}

// does is the activity on a node.
func does(n *cliv1alpha1.NodeProgress) (string, style) {
	activity, style := plainly(n), plain
	switch {
	case n.Activity == cliv1alpha1.ActivityFailed:
		style = red
	case len(n.Blockers) > 0:
		activity += "; " + blockers(n.Blockers)
		style = yellow
	}
	if n.Waits != "" {
		activity += " (" + n.Waits + ")"
	}
	return activity, style
}

func plainly(n *cliv1alpha1.NodeProgress) string {
	switch n.Activity {
	case cliv1alpha1.ActivityPrefetch:
		return "prefetching" + colon(n.Step)
	case cliv1alpha1.ActivityDrain:
		if n.Remaining == 0 {
			return "draining"
		}
		return "draining, " + phrase.Count(n.Remaining, "pod") + " left"
	case cliv1alpha1.ActivityUpgrade:
		return "upgrading" + colon(n.Step)
	case cliv1alpha1.ActivityRollBack:
		return "rolling back" + colon(n.Step)
	case cliv1alpha1.ActivityVerify:
		return "upgraded; verifying the node"
	case cliv1alpha1.ActivityFailed:
		return "failed" + colon(n.Step)
	}
	return "cordoning"
}

func colon(step string) string {
	if step == "" {
		return ""
	}
	return ": " + step
}

func blockers(all []cliv1alpha1.Blocker) string {
	out := all[0].Pod + ": " + all[0].Reason
	if more := len(all) - 1; more > 0 {
		out += fmt.Sprintf(", and %d more", more)
	}
	return out
}

// bar draws a bar, part of it full.
func bar(full, length int) string {
	return strings.Repeat("█", full) + strings.Repeat("░", length-full)
}

// Clock formats a duration like a stopwatch: 0:05, 12:30, 1:02:03.
func Clock(d time.Duration) string {
	s := int(max(0, d).Seconds())
	if s < 3600 {
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}
