package text

import (
	"fmt"
	"slices"
	"strings"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

// OperationLines renders the changes since the last progress, a line each, with the time since the
// operation was created. It is empty if nothing changed.
func OperationLines(last, o *cliv1alpha1.Operation, now time.Time) string {
	t := &changes{stamp: Clock(now.Sub(o.StartTime))}
	if last == nil {
		last = &cliv1alpha1.Operation{}
		t.line("%s", opening(o))
	}
	t.reachability(last, o, now)
	t.stages(last, o)
	t.nodes(last, o)
	t.failures(last, o)
	t.state(last, o)
	return t.out.String()
}

type changes struct {
	out   strings.Builder
	stamp string
}

func (t *changes) line(format string, args ...any) {
	fmt.Fprintf(&t.out, "%7s  %s\n", t.stamp, Clean(fmt.Sprintf(format, args...)))
}

func opening(o *cliv1alpha1.Operation) string {
	return fmt.Sprintf("Operation %s: upgrade of %s", o.Name, route(o))
}

func (t *changes) reachability(last, o *cliv1alpha1.Operation, now time.Time) {
	switch was, is := !last.UnreachableSince.IsZero(), !o.UnreachableSince.IsZero(); {
	case is && !was:
		t.line("The API server is unreachable; %s", meansUnreachable(o))
	case was && !is:
		t.line("The API server is reachable again after %s", Clock(now.Sub(last.UnreachableSince)))
	}
}

// stages writes the number of completed nodes of a stage when it changes, and the released nodes.
// For many nodes it writes every twentieth.
func (t *changes) stages(last, o *cliv1alpha1.Operation) {
	for i, s := range o.Stages {
		before := 0
		if i < len(last.Stages) {
			before = last.Stages[i].Done
		}
		if s.Done <= before || s.Total > manyNodes && s.Done < s.Total && s.Done*twentieths/s.Total == before*twentieths/s.Total {
			continue
		}
		if kindOf(s.Name).Once {
			t.line("%s: done", stageTitle(&s))
			continue
		}
		who := ""
		if names := through(last, o); len(names) > 0 && kindOf(s.Name).Pace.Disrupts() {
			who = " (" + phrase.Fold(names, phrase.FewNames) + ")"
		}
		t.line("%s: %s of %s%s", stageTitle(&s), phrase.Number(s.Done), phrase.Count(s.Total, countedIn(&s)), who)
	}
}

func countedIn(s *cliv1alpha1.StageProgress) string {
	if kindOf(s.Name).Components {
		return "component"
	}
	return "node"
}

// manyNodes is the number of nodes above which there is no line for each, but one for each
// twentieth.
const (
	manyNodes  = 50
	twentieths = 20
)

// through are the nodes that are no longer active.
func through(last, o *cliv1alpha1.Operation) []string {
	var out []string
	for i := range last.Active {
		name := last.Active[i].Node
		if last.Active[i].Activity != cliv1alpha1.ActivityPrefetch && !slices.ContainsFunc(o.Active,
			func(n cliv1alpha1.NodeProgress) bool { return n.Node == name }) {
			out = append(out, name)
		}
	}
	return out
}

// nodes writes the activity on each active node when it changes. For many nodes it writes only what
// blocks one.
func (t *changes) nodes(last, o *cliv1alpha1.Operation) {
	before := map[string]*cliv1alpha1.NodeProgress{}
	for i := range last.Active {
		before[last.Active[i].Node] = &last.Active[i]
	}
	for i := range o.Active {
		n := &o.Active[i]
		held := len(n.Blockers) > 0 || n.Waits != "" && n.Activity != cliv1alpha1.ActivityPrefetch
		if alike(before[n.Node], n) || o.Nodes.Total > manyNodes && !held {
			continue
		}
		activity, _ := does(n)
		t.line("%s: %s", n.Node, activity)
	}
}

// alike reports whether two states of a node are the same to a reader of a log, who needs neither
// each evicted pod, nor the moment between two steps, nor each fetched file.
func alike(a, b *cliv1alpha1.NodeProgress) bool {
	switch {
	case a == nil || a.Activity != b.Activity:
		return false
	case b.Activity == cliv1alpha1.ActivityPrefetch:
		return a.Step == b.Step || b.Step == ""
	case b.Step == "" && b.Waits == "" && len(b.Blockers) == 0:
		return true
	}
	return a.Step == b.Step && a.Waits == b.Waits && slices.Equal(a.Blockers[:min(1, len(a.Blockers))], b.Blockers[:min(1, len(b.Blockers))])
}

func (t *changes) failures(last, o *cliv1alpha1.Operation) {
	before := map[cliv1alpha1.NodeFailure]bool{}
	for _, f := range last.Failures {
		before[f] = true
	}
	for _, f := range o.Failures {
		if before[f] {
			continue
		}
		t.line("FAILED %s%s: %s", failedSubject(&f), failedAt(&f), f.Message)
		if f.Remedy != "" {
			t.line("  → %s", f.Remedy)
		}
	}
}

// state writes the phase and the message, unless the lines of the active nodes cover them.
func (t *changes) state(last, o *cliv1alpha1.Operation) {
	phase, doing := last.Phase != o.Phase, last.Message != o.Message && o.Message != ""
	running := o.Phase == string(refitv1alpha1.PhaseRunning)
	if !phase && (!doing || running && coveredByNodes(o)) {
		return
	}
	word, _ := state(o)
	word = capital(word)
	switch {
	case o.Ended || o.Reason == refitv1alpha1.ReasonPaused || coveredByFailures(o):
		t.line("%s", word)
		return
	case o.Message == "":
		t.line("%s: %s", word, notSeen)
		return
	case running && !phase:
		t.line("%s", o.Message)
		return
	case o.Reason == refitv1alpha1.ReasonApprovalRequired: // "Waiting for approval of plan …"
		t.line("%s", o.Message)
	default:
		t.line("%s: %s", word, o.Message)
	}
	if o.Remedy != "" {
		t.line("  → %s", o.Remedy)
	}
}

// coveredByNodes reports whether the lines of the active nodes show the operation's activity. While
// a node settles, only the message of the operation shows what it waits for.
func coveredByNodes(o *cliv1alpha1.Operation) bool {
	settles := slices.ContainsFunc(o.Active, func(n cliv1alpha1.NodeProgress) bool { return n.Activity == cliv1alpha1.ActivityVerify })
	return len(o.Active) > 0 && (!settles || o.Nodes.Total > manyNodes)
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
