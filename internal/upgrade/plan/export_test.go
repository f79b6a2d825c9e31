package plan

// CheckStatus checks the status that follows from each simulated decision. The external tests of
// this package set it, since what it calls imports this package.
var CheckStatus func(Written) []string

// Written is a simulated decision with the operation that its status is written to.
type Written struct {
	Operation operation
	Plan      *Plan
	Decision  Decision
}

// Problem is why the plan cannot be made again.
func (p *Plan) Problem() error { return p.problem }

// checkStatus requires that the API accepts the status.
func (w *world) checkStatus(p *Plan, d *Decision) {
	if CheckStatus == nil || w.dice != nil && w.dice.IntN(8) > 0 {
		return
	}
	for _, wrong := range CheckStatus(Written{Operation: w.op, Plan: p, Decision: *d}) {
		w.violation("the API refuses the status: %s", wrong)
	}
}
