package socket

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
)

// HeartbeatInterval is the interval of heartbeats in a stream.
const HeartbeatInterval = 5 * time.Second

const (
	// headerTimeout is how long a client may take to send its request.
	headerTimeout  = 5 * time.Second
	maxHeaderBytes = 8 << 10
	// writeTimeout is how long a client may take to read one event.
	writeTimeout = 5 * time.Second
)

// limits are the limits of a server. Tests use smaller ones.
type limits struct {
	connections              int
	header, write, heartbeat time.Duration
}

var defaultLimits = limits{connections: maxConnections, header: headerTimeout, write: writeTimeout, heartbeat: HeartbeatInterval}

// Serve answers clients until the context ends, and then closes the listener and all connections.
func Serve(ctx context.Context, listener net.Listener, hub *Hub) error {
	return serve(ctx, listener, hub, defaultLimits)
}

func serve(ctx context.Context, listener net.Listener, hub *Hub, l limits) error {
	h := &handler{hub: hub, limits: l}
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: l.header, MaxHeaderBytes: maxHeaderBytes,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    log.New(io.Discard, "", 0), // a client must not fill the log of the agent
	}
	server.SetKeepAlivesEnabled(false) // a connection is one request, so its deadlines are those of the request
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	err := server.Serve(newLimited(listener, l.connections))
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

type handler struct {
	hub *Hub
	limits
}

// ServeHTTP answers GET on two paths and nothing else.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	respond := map[string]func(*stream, *http.Request) error{"/status": h.status, "/events": h.events}[r.URL.Path]
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	s := &stream{w: w, control: http.NewResponseController(w), timeout: h.write}
	switch {
	case respond == nil:
		s.refuse(http.StatusNotFound)
	case r.Method != http.MethodGet:
		header.Set("Allow", http.MethodGet)
		s.refuse(http.StatusMethodNotAllowed)
	case r.ContentLength != 0:
		s.refuse(http.StatusRequestEntityTooLarge)
	default:
		_ = respond(s, r) // the client is gone, or too slow
	}
}

// status answers the current document. Before the agent has read its journal there is none.
func (h *handler) status(s *stream, _ *http.Request) error {
	document := h.hub.current()
	if document == nil {
		s.w.Header().Set("Retry-After", "1")
		s.refuse(http.StatusServiceUnavailable)
		return nil
	}
	text, err := json.Marshal(observed(document, time.Now()))
	if err != nil {
		return err
	}
	s.w.Header().Set("Content-Type", "application/json")
	return s.write(string(text) + "\n")
}

// events streams the current document and each later one, with heartbeats in between.
func (h *handler) events(s *stream, r *http.Request) error {
	s.w.Header().Set("Content-Type", "text/event-stream")
	latest, c := h.hub.subscribe()
	defer h.hub.unsubscribe(c)
	if latest != nil {
		if err := s.event(cliv1alpha1.EventStatus, observed(latest, time.Now())); err != nil {
			return err
		}
	}
	ticker := time.NewTicker(h.heartbeat)
	defer ticker.Stop()
	for {
		var err error
		select {
		case <-r.Context().Done():
			return r.Context().Err()
		case document, more := <-c.pending:
			if !more {
				return errors.New("the client reads too slowly")
			}
			err = s.event(cliv1alpha1.EventStatus, document)
		case now := <-ticker.C:
			err = s.event(cliv1alpha1.EventHeartbeat, cliv1alpha1.Heartbeat{ObservedAt: now.UTC()})
		}
		if err != nil {
			return err
		}
	}
}

// observed returns the document with another time: it is still true.
func observed(document *cliv1alpha1.HostStatus, now time.Time) *cliv1alpha1.HostStatus {
	out := *document
	out.ObservedAt = now.UTC()
	return &out
}

// stream writes to one client, with a deadline for each write.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
}

func (s *stream) event(name string, document any) error {
	text, err := json.Marshal(document)
	if err != nil {
		return err
	}
	return s.write(fmt.Sprintf("event: %s\ndata: %s\n\n", name, text))
}

func (s *stream) write(text string) error {
	if err := s.control.SetWriteDeadline(time.Now().Add(s.timeout)); err != nil {
		return err
	}
	if _, err := io.WriteString(s.w, text); err != nil {
		return err
	}
	return s.control.Flush()
}

// refuse answers an error without reading what else the client sends.
func (s *stream) refuse(code int) {
	now := time.Now()
	_ = errors.Join(s.control.SetReadDeadline(now.Add(s.timeout)), s.control.SetWriteDeadline(now.Add(s.timeout)))
	http.Error(s.w, http.StatusText(code), code)
}
