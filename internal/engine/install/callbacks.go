package install

// Callbacks are functions that report progress. Each may be nil. They are not called concurrently.
type Callbacks struct {
	// Step reports the step that starts.
	Step func(what string)
	// Object reports what was done with an object.
	Object func(Change)
	// Node reports a changed state of a node, and how many of all nodes are done.
	Node func(n NodeProgress, done, of int)
	// Pod reports a changed state of a pod of the controller or of refit-components.
	Pod func(PodProgress)
	// Reach reports during a wait that the API server has become unreachable, or is reachable
	// again.
	Reach func(Reach)
}

func (c Callbacks) step(what string) {
	if c.Step != nil {
		c.Step(what)
	}
}

func (c Callbacks) object(change Change) {
	if c.Object != nil {
		c.Object(change)
	}
}
