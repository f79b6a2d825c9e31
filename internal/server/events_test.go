package server_test

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/server/api"
)

func TestEventsHaveWhatChanges(t *testing.T) {
	b := newBed(t, upgrade(), node("worker-1"), node("worker-2")).current(t)
	events := b.follow(t, "")
	first, hello := next[api.Hello](t, events, "hello")
	if hello.Resumed || hello.HeartbeatSeconds != 5 || first.id == "" {
		t.Errorf("hello is %+v", hello)
	}
	next[api.State](t, events, "state")
	cordon := func(cordoned bool) {
		n := &corev1.Node{}
		must(t, b.objects.Get(t.Context(), client.ObjectKey{Name: "worker-2"}, n))
		n.Spec.Unschedulable = cordoned
		must(t, b.objects.Update(t.Context(), n))
	}
	cordon(true)
	for found := false; !found; { // the first event may have all rows
		_, changes := next[api.NodeChanges](t, events, "nodes")
		found = slices.ContainsFunc(changes.Changed, func(r cliv1alpha1.NodeRow) bool { return r.Node == "worker-2" && r.Cordon == cliv1alpha1.CordonOther })
	}
	cordon(false)
	e, changes := next[api.NodeChanges](t, events, "nodes")
	if len(changes.Changed) != 1 || changes.Changed[0].Node != "worker-2" || changes.Changed[0].Cordon != "" || changes.Operation != "op" {
		t.Errorf("changes are %+v", changes)
	}
	must(t, b.objects.Delete(t.Context(), node("worker-2")))
	if _, changes = next[api.NodeChanges](t, events, "nodes"); len(changes.Removed) != 1 || len(changes.Changed) != 0 {
		t.Errorf("changes are %+v", changes)
	}
	// A client that was away gets what it has missed, and nothing twice.
	resumed := b.follow(t, e.id)
	if _, hello := next[api.Hello](t, resumed, "hello"); !hello.Resumed {
		t.Errorf("hello is %+v", hello)
	}
	if _, changes = next[api.NodeChanges](t, resumed, "nodes"); len(changes.Removed) != 1 {
		t.Errorf("the first missed change is %+v", changes)
	}
	other := b.follow(t, "another.7")
	if _, hello := next[api.Hello](t, other, "hello"); hello.Resumed {
		t.Error("the events of another run are resumed")
	}
}

func TestEventsReportAnOutageAndItsEnd(t *testing.T) {
	b := newBed(t, upgrade()).current(t)
	events := b.follow(t, "")
	next[api.State](t, events, "state")
	b.down.Store(true)
	begun := time.Now()
	link := api.APIServer{Reachable: true}
	for link.Reachable {
		_, link = next[api.APIServer](t, events, "api")
	}
	if link.UnreachableSince.IsZero() || link.Error == "" {
		t.Errorf("the link is %+v", link)
	}
	if took := time.Since(begun); took > 3*time.Second {
		t.Errorf("it was reported after %s", took)
	}
	if _, beat := next[api.Heartbeat](t, events, "heartbeat"); beat.APIReachable || beat.Source != api.LastKnown || beat.Now.Sub(beat.ObservedAt) < 0 {
		t.Errorf("the heartbeat is %+v", beat)
	}
	b.down.Store(false)
	for !link.Reachable {
		_, link = next[api.APIServer](t, events, "api")
	}
}

func TestStreamsAreLimited(t *testing.T) {
	b := newBed(t).current(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	path := request{path: "/api/v1alpha1/events", token: "viewer"}
	for i := range 500 { // of several callers, because the requests of each are limited
		r := path
		r.token = fmt.Sprintf("viewer-%d", i/50)
		if answer := b.open(t, ctx, r); answer.StatusCode != http.StatusOK {
			t.Fatalf("stream %d: %s", i, answer.Status)
		}
	}
	b.eventually(t, "the limit of streams is reported", func() bool {
		answer, body := b.send(t, path)
		return answer.StatusCode == http.StatusTooManyRequests && problemOf(t, body).Code == "too-many-streams"
	})
	cancel()
	b.eventually(t, "a stream that has ended makes room", func() bool {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		return b.open(t, ctx, path).StatusCode == http.StatusOK
	})
}

func TestStreamsEndWithTheServer(t *testing.T) {
	b := newBed(t).current(t)
	events := b.follow(t, "")
	next[api.Hello](t, events, "hello")
	begun := time.Now()
	b.stop()
	for range events { // until it ends
	}
	if took := time.Since(begun); took > 3*time.Second {
		t.Errorf("the shutdown took %s", took)
	}
}

// A disk that hangs, which may be why etcd does, does not delay events.
func TestEventsDoNotWaitForTheDisk(t *testing.T) {
	b := newBed(t, upgrade()).current(t)
	events := b.follow(t, "")
	next[api.State](t, events, "state")
	defer b.HoldDisk()()
	for _, down := range []bool{true, false} {
		b.down.Store(down)
		for link := (api.APIServer{Reachable: down}); link.Reachable == down; {
			_, link = next[api.APIServer](t, events, "api")
		}
	}
}

// Clients that disconnect leave neither a stream nor a goroutine.
func TestClientsThatLeaveAreForgotten(t *testing.T) {
	b := newBed(t, upgrade()).current(t)
	b.client.CloseIdleConnections()
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithCancel(t.Context())
	for range 30 {
		b.open(t, ctx, request{path: "/api/v1alpha1/events", token: "viewer"})
	}
	var waits sync.WaitGroup
	for range 20 {
		waits.Go(func() {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.url+operationsPath+"/op?wait=ended", http.NoBody)
			if err != nil {
				t.Error(err)
				return
			}
			r.Header.Set("Authorization", "Bearer viewer-1")
			if answer, err := b.client.Do(r); err == nil {
				_ = answer.Body.Close()
				t.Errorf("the wait ended with %s", answer.Status)
			}
		})
	}
	b.eventually(t, "all stay", func() bool { return b.Streams() == 50 })
	cancel()
	waits.Wait()
	b.eventually(t, "none stays", func() bool { return b.Streams() == 0 })
	b.client.CloseIdleConnections()
	b.eventually(t, "their goroutines end", func() bool { return runtime.NumGoroutine() <= before+5 })
}
