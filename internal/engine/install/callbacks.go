package install

// Told are callbacks that report progress. Each may be nil. They are not called concurrently.
type Told struct {
	// Doing reports the step that starts.
	Doing func(what string)
	// Object reports what was done with an object.
	Object func(Change)
	// Node reports a changed state of a node, and how many of all nodes are done.
	Node func(n NodeProgress, done, of int)
	// Pod reports a changed state of a pod of the controller.
	Pod func(PodProgress)
}

func (t Told) doing(what string) {
	if t.Doing != nil {
		t.Doing(what)
	}
}

func (t Told) object(c Change) {
	if t.Object != nil {
		t.Object(c)
	}
}
