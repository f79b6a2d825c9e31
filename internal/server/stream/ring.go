// Package stream keeps the last events of a server, so that each client reads them at its own pace
// and resumes after an interruption. A client that is too slow misses events, and its stream ends;
// it never makes the server wait or keep more.
package stream

import (
	"strconv"
	"strings"
	"sync"
)

// The bounds of a Ring. Whichever is reached first drops the oldest events.
const (
	MaxEvents = 1024
	MaxBytes  = 16 << 20
)

// Event is something that happened.
type Event struct {
	Revision int64
	Type     string
	Data     []byte
}

// Ring has the last events, in order. Its methods are safe for concurrent use.
type Ring struct {
	boot string

	mu     sync.Mutex
	events []Event
	bytes  int
	last   int64         // the revision of the last event
	more   chan struct{} // closed with the next event
}

// New returns an empty ring. The id of the run of the server distinguishes its revisions from those
// of another run.
func New(boot string) *Ring { return &Ring{boot: boot, more: make(chan struct{})} }

// Publish adds an event.
func (r *Ring) Publish(kind string, data []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	r.events, r.bytes = append(r.events, Event{Revision: r.last, Type: kind, Data: data}), r.bytes+len(data)
	drop := 0
	for len(r.events)-drop > MaxEvents || r.bytes > MaxBytes && len(r.events)-drop > 1 {
		r.bytes -= len(r.events[drop].Data)
		r.events[drop] = Event{}
		drop++
	}
	r.events = r.events[drop:]
	close(r.more)
	r.more = make(chan struct{})
}

// Last returns the revision of the last event.
func (r *Ring) Last() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

// After returns the events after a revision, and a channel that is closed with the next one. It is
// not ok if the ring no longer has all of them.
func (r *Ring) After(revision int64) (events []Event, more <-chan struct{}, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	missed := int(r.last - revision)
	if missed < 0 || missed > len(r.events) {
		return nil, r.more, false
	}
	return append([]Event(nil), r.events[len(r.events)-missed:]...), r.more, true
}

// ID is the id of an event in a stream.
func (r *Ring) ID(revision int64) string { return r.boot + "." + strconv.FormatInt(revision, 10) }

// Resume returns the revision of an id, if it is of this run and all later events are there.
func (r *Ring) Resume(id string) (revision int64, ok bool) {
	boot, number, _ := strings.Cut(id, ".")
	revision, err := strconv.ParseInt(number, 10, 64)
	if err != nil || boot != r.boot {
		return 0, false
	}
	_, _, ok = r.After(revision)
	return revision, ok
}
