package outage

import (
	"fmt"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

const (
	// clockSkew is by how much the clocks of two hosts may differ, and times are in whole seconds.
	clockSkew = 5 * time.Second
	// lateness is how far beyond its timeout a step still explains an outage.
	lateness = 30 * time.Second
	// gap is how far apart two steps of one interruption may be.
	gap = 10 * time.Second
	// settling is how long after a step the address of the API server may take to respond again.
	settling = 30 * time.Second
	// undoSettling is the same after an undo, which does not wait for the API server. It is the
	// timeout after which an agent gives up an API server.
	undoSettling = 150 * time.Second
)

// judgment is how a host relates to the outage.
type judgment struct {
	host

	kind kind
	why  string // a clause, for all kinds but explains
}

type kind int

const (
	unrelated kind = iota // nothing on the host interrupts its API server
	unknown               // something may
	failed                // a step that interrupts it has failed
	explains              // a step that interrupts it is in progress
)

// judge decides how one host relates to the outage.
func judge(h *host, in *Input) judgment {
	j := judgment{host: *h, kind: unrelated}
	current, _ := node.StepOf(h.step)
	failedAt, _ := node.StepOf(h.failedStep)
	switch {
	case h.phase == refitv1alpha1.NodeFailed && (h.failedStep == "" || failedAt.API == node.InterruptsAPI):
		return j.afterFailure(in)
	case h.source == cliv1alpha1.SourceLastKnown && in.Since.Sub(h.observedAt) > maxLag:
		j.kind, j.why = unknown, fmt.Sprintf("the state of %s is %s older than the outage", h.node, clock(in.Since.Sub(h.observedAt)))
	case h.phase != refitv1alpha1.NodeApplying && h.phase != refitv1alpha1.NodeRollingBack:
		return j.afterStep(in)
	case current.API == node.InterruptsAPI:
		return j.atInterruption(&current, in)
	case current.API == node.MayInterruptAPI:
		j.kind, j.why = unknown, fmt.Sprintf("%s %s, which can restart the API server", j.doing(in.Now), j.seen(in.Now))
	case h.source == cliv1alpha1.SourceLastKnown:
		j.kind, j.why = unknown, fmt.Sprintf("%s was last seen %s and may have reached a step that restarts the API server", h.node, j.place())
	default:
		return j.afterStep(in)
	}
	return j
}

// atInterruption judges a host whose step restarts the API server or etcd.
func (j judgment) atInterruption(step *node.Step, in *Input) judgment {
	j.kind = unknown
	began := j.began(in.Now)
	switch late := in.Now.Sub(j.limit(step)); {
	case j.since.IsZero():
		j.why = fmt.Sprintf("%s is at %s since an unknown time", j.node, j.step)
	case j.since.After(in.Now.Add(clockSkew)):
		j.why = fmt.Sprintf("the clock of %s is ahead by %s", j.node, clock(j.since.Sub(in.Now)))
	case late > lateness:
		j.why = fmt.Sprintf("%s %s, which should have ended %s ago", j.doing(in.Now), j.seen(in.Now), clock(late))
	case in.Since.Add(clockSkew).Before(began):
		j.kind, j.why = unrelated, fmt.Sprintf("it began %s before %s started %s", clock(began.Sub(in.Since)), j.node, j.step)
	case j.waits != "":
		// Before it stops anything, a step waits for the other members of etcd.
		j.why = fmt.Sprintf("%s %s, but waits: %s", j.doing(in.Now), j.seen(in.Now), j.waits)
	default:
		j.kind = explains
	}
	return j
}

// afterFailure judges a host that was not rolled back after a failure. Its API server may crash
// again and again, so an outage long after the failure may still be due to it.
func (j judgment) afterFailure(in *Input) judgment {
	at := ""
	if j.failedStep != "" {
		at = " at " + j.failedStep
	}
	j.kind, j.why = failed, fmt.Sprintf("%s failed%s: %s", j.node, at, j.failure)
	if late := in.Since.Sub(j.failedAt); late > undoSettling {
		j.kind, j.why = unknown, fmt.Sprintf("%s failed%s %s before: %s", j.node, at, clock(late), j.failure)
	}
	return j
}

// afterStep judges a host that is at no step that could interrupt its API server. It may have just
// ended one. The outage may have started with a step before that one.
func (j judgment) afterStep(in *Input) judgment {
	var last time.Time
	for _, i := range j.steps {
		wait := settling
		if i.undo {
			wait = undoSettling
		}
		step, _ := node.StepOf(i.step)
		ago := in.Now.Sub(i.end)
		before := in.Since.Add(clockSkew).Before(j.interruption(i.start, in.Now))
		if step.API == node.InterruptsNothing || i.end.IsZero() || i.end.Before(last) || ago > wait || before || in.Since.After(i.end.Add(wait)) {
			continue
		}
		last = i.end
		ended := "finished"
		if i.undo {
			ended = "undid"
		}
		j.kind, j.why = unknown, fmt.Sprintf("%s %s %s %s ago, and the API server may not be reachable yet", j.node, ended, i.step, clock(ago))
	}
	return j
}

// mayAffectOthers reports whether the step may have silenced the API servers of other hosts: etcd
// elects a leader, or its quorum is unknown.
func (j *judgment) mayAffectOthers(in *Input) bool {
	return j.step == node.StepEtcd && (in.Members == 0 || in.Now.Sub(j.since) < settling)
}

// limit is when the step in progress has to end.
func (j judgment) limit(step *node.Step) time.Time {
	switch {
	case !j.deadline.IsZero():
		return j.deadline
	case j.undo && j.source == cliv1alpha1.SourceLastKnown:
		return j.since.Add(step.Limit + node.UndoLimit) // since is the start of the step, not of its undo
	case j.undo:
		return j.since.Add(node.UndoLimit)
	}
	return j.since.Add(step.Limit)
}

// began is when the interruption began: with the step in progress, or with one right before it that
// interrupts the API server, too.
func (j judgment) began(now time.Time) time.Time { return j.interruption(j.since, now) }

// interruption is when the interruption began that a step continues.
func (j judgment) interruption(began, now time.Time) time.Time {
	for again := true; again; {
		again = false
		for _, i := range j.steps {
			step, _ := node.StepOf(i.step)
			end := i.end
			if end.IsZero() {
				end = now
			}
			if step.API != node.InterruptsNothing && !i.start.IsZero() && i.start.Before(began) && !end.Before(began.Add(-gap)) {
				began, again = i.start, true
			}
		}
	}
	return began
}
