package cluster

import (
	"context"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// mailbox holds the latest state of each object until it is received. A newer state replaces it.
type mailbox struct {
	mu      sync.Mutex
	waiting map[Kind]Event
	order   []Kind
	changed chan struct{}
}

func newMailbox() *mailbox {
	return &mailbox{waiting: map[Kind]Event{}, changed: make(chan struct{}, 1)}
}

func (b *mailbox) put(kind Kind, event Event) {
	b.mu.Lock()
	if _, has := b.waiting[kind]; !has {
		b.order = append(b.order, kind)
	}
	b.waiting[kind] = event
	b.mu.Unlock()
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// first returns the event that has waited longest.
func (b *mailbox) first() (Kind, Event, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.order) == 0 {
		return "", Event{}, false
	}
	return b.order[0], b.waiting[b.order[0]], true
}

// taken removes a delivered event, unless a newer one has arrived.
func (b *mailbox) taken(kind Kind, event Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.order = b.order[1:]
	if b.waiting[kind] == event {
		delete(b.waiting, kind)
		return
	}
	b.order = append(b.order, kind)
}

func (b *mailbox) deliver(ctx context.Context, events chan<- Event) {
	for {
		kind, event, has := b.first()
		to := events
		if !has {
			to = nil
		}
		select {
		case <-ctx.Done():
			return
		case <-b.changed: // the first event may have been replaced
		case to <- event:
			b.taken(kind, event)
		}
	}
}

// slot is the store of a reflector for one object.
type slot struct {
	kind Kind
	name string
	box  *mailbox
}

func (s *slot) Add(object any) error    { return s.Update(object) }
func (s *slot) Resync() error           { return nil }
func (s *slot) Delete(object any) error { return s.update(object, true) }
func (s *slot) Update(object any) error { return s.update(object, false) }

// Replace receives the content of a list: this one object, or nothing.
func (s *slot) Replace(objects []any, _ string) error {
	for _, object := range objects {
		if named(object, s.name) {
			return s.update(object, false)
		}
	}
	s.box.put(s.kind, Event{Gone: s.kind})
	return nil
}

func (s *slot) update(object any, gone bool) error {
	switch o := object.(type) {
	case *refitv1alpha1.NodeUpgrade:
		if named(o, s.name) && !gone {
			s.box.put(s.kind, Event{Upgrade: o})
		}
	case *refitv1alpha1.NodeReport:
		if named(o, s.name) && !gone {
			s.box.put(s.kind, Event{Report: o})
		}
	}
	if gone && named(object, s.name) {
		s.box.put(s.kind, Event{Gone: s.kind})
	}
	return nil
}

func named(object any, name string) bool {
	o, ok := object.(metav1.Object)
	return ok && o.GetName() == name
}
