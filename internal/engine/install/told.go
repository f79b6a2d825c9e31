package install

// Told is what a person who waits hears. Each of them may be nil; none is called twice at once.
type Told struct {
	// Doing is what is being done now.
	Doing func(what string)
	// Object is what became of one object.
	Object func(Change)
	// Node is how far one node is, whenever that changes, and how many of all are done.
	Node func(n NodeProgress, done, of int)
	// Pod is the same of the controller's pods.
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
