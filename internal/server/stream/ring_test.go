package stream_test

import (
	"testing"

	"github.com/refit-dev/refit/internal/server/stream"
)

func TestAClientResumesWhereItStopped(t *testing.T) {
	r := stream.New("b1")
	for range 3 {
		r.Publish("state", []byte("{}"))
	}
	revision, ok := r.Resume(r.ID(1))
	if events, _, kept := r.After(revision); !ok || !kept || len(events) != 2 || events[0].Revision != 2 {
		t.Errorf("after %d (%v): %v, %v", revision, ok, events, kept)
	}
	for _, id := range []string{"b2.1", "b1.4", "b1.-9999", "b1", "", "b1.x"} {
		if _, ok := r.Resume(id); ok {
			t.Errorf("%q resumes", id)
		}
	}
}

func TestTheRingIsBoundedInEventsAndBytes(t *testing.T) {
	r := stream.New("b")
	for range stream.MaxEvents + 1 {
		r.Publish("state", nil)
	}
	if _, _, ok := r.After(0); ok {
		t.Error("the first event is still there")
	}
	if events, _, ok := r.After(1); !ok || len(events) != stream.MaxEvents {
		t.Errorf("%d events, %v", len(events), ok)
	}
	r.Publish("state", []byte("{}"))
	r.Publish("nodes", make([]byte, stream.MaxBytes))
	if _, _, ok := r.After(r.Last() - 2); ok {
		t.Error("two events have more bytes than the bound")
	}
	if events, _, ok := r.After(r.Last() - 1); !ok || len(events) != 1 {
		t.Errorf("the last event is not there: %v", ok)
	}
}

func TestMoreIsClosedByTheNextEvent(t *testing.T) {
	r := stream.New("b")
	_, more, _ := r.After(0)
	select {
	case <-more:
		t.Fatal("there is no event")
	default:
	}
	r.Publish("state", nil)
	<-more
}
