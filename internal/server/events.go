package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/refit-dev/refit/internal/engine/operations"
	"github.com/refit-dev/refit/internal/server/api"
	"github.com/refit-dev/refit/internal/server/problem"
)

const (
	// maxStreams is the maximum number of streams of events and of waits.
	maxStreams = 500
	// heartbeatInterval is the time between two heartbeats. They are events, because a page does
	// not see comments.
	heartbeatInterval = 5 * time.Second
	// writeTimeout is how long a client may take to receive an event.
	writeTimeout = 5 * time.Second
	// retryMilliseconds is after what time a client reconnects.
	retryMilliseconds = 1000
)

// errTooSlow is a client that does not receive events as fast as they happen. It reconnects.
var errTooSlow = errors.New("the client is too slow")

// GetEvents starts a stream of events.
func (s *Server) GetEvents(ctx context.Context, request api.GetEventsRequestObject) (api.GetEventsResponseObject, error) {
	leave, err := s.enter()
	if err != nil {
		return nil, err
	}
	return &follower{server: s, ctx: ctx, from: request.Params.LastEventID, leave: leave}, nil
}

// enter counts a client that stays. It calls leave at its end.
func (s *Server) enter() (leave func(), err error) {
	if s.streams.Add(1) > maxStreams {
		s.streams.Add(-1)
		return nil, problem.Newf(http.StatusTooManyRequests, problem.TooManyStreams, "The server has %d streams of events and waits already.", maxStreams).
			With("Close other pages, and retry").After(heartbeatInterval)
	}
	return func() { s.streams.Add(-1) }, nil
}

// follower is a client that follows events.
type follower struct {
	server *Server
	ctx    context.Context
	from   string // Last-Event-ID
	leave  func()

	w       http.ResponseWriter
	control *http.ResponseController
}

// VisitGetEventsResponse sends events until the client leaves, is too slow or loses its permission,
// or the server ends.
func (f *follower) VisitGetEventsResponse(w http.ResponseWriter) error {
	defer f.leave()
	f.w, f.control = w, http.NewResponseController(w)
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	if err := f.follow(); err != nil {
		f.server.log.Debug("a stream of events ended", "requestId", problem.RequestID(f.ctx), "error", err)
	}
	return nil // the status is sent already
}

func (f *follower) follow() error {
	revision, err := f.greet()
	if err != nil {
		return err
	}
	heartbeat, review := time.NewTicker(heartbeatInterval), time.NewTicker(f.server.reviewInterval)
	defer heartbeat.Stop()
	defer review.Stop()
	reviewed, reviewing := make(chan error, 1), false
	for {
		events, more, ok := f.server.ring.After(revision)
		if !ok {
			return errTooSlow
		}
		for _, e := range events {
			if err := f.send(f.server.ring.ID(e.Revision), e.Type, e.Data); err != nil {
				return err
			}
			revision = e.Revision
		}
		select {
		case <-more:
		case <-heartbeat.C:
			if err := f.beat(); err != nil {
				return err
			}
		case <-review.C:
			if !reviewing { // apart: events and heartbeats do not wait for an issuer or an API server that hangs
				reviewing = true
				go func() { reviewed <- f.server.mayContinue(f.ctx) }()
			}
		case err := <-reviewed:
			if reviewing = false; err != nil {
				return err
			}
		case <-f.server.ending:
			return nil
		case <-f.ctx.Done():
			return f.ctx.Err()
		}
	}
}

// greet sends the first events, and returns the revision that the stream continues after.
func (f *follower) greet() (revision int64, err error) {
	ring := f.server.ring
	revision, resumed := ring.Resume(f.from)
	if !resumed {
		revision = ring.Last()
	}
	if _, err := fmt.Fprintf(f.w, "retry: %d\n\n", retryMilliseconds); err != nil {
		return 0, err
	}
	hello := api.Hello{Boot: f.server.boot, Revision: revision, Resumed: resumed, HeartbeatSeconds: int(heartbeatInterval.Seconds())}
	if err := f.sendDocument(ring.ID(revision), eventHello, &hello); err != nil || resumed {
		return revision, err
	}
	var first any
	f.server.mirror.Read(func(c *operations.Copy) {
		if first = f.server.documents.state(c); c.API.CurrentAt.IsZero() {
			first = nil
		}
	})
	if first == nil { // nothing was read yet: the state follows as an event
		return revision, nil
	}
	return revision, f.sendDocument(ring.ID(revision), eventState, first)
}

func (f *follower) beat() error {
	out := api.Heartbeat{Now: f.server.documents.now().UTC()}
	f.server.mirror.Read(func(c *operations.Copy) {
		out.Source, out.ObservedAt = observed(c)
		out.APIReachable = c.API.Reachable()
	})
	return f.sendDocument("", eventHeartbeat, &out)
}

func (f *follower) sendDocument(id, kind string, document any) error {
	data, err := json.Marshal(document)
	if err != nil {
		return err
	}
	return f.send(id, kind, data)
}

// send sends an event within the deadline. JSON has no line breaks.
func (f *follower) send(id, kind string, data []byte) error {
	if err := f.control.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	if id != "" {
		id = "id: " + id + "\n"
	}
	if _, err := fmt.Fprintf(f.w, "%sevent: %s\ndata: %s\n\n", id, kind, data); err != nil {
		return err
	}
	if err := f.control.Flush(); err != nil {
		return err
	}
	return f.control.SetWriteDeadline(time.Time{}) // with HTTP/2, it would end the stream
}
