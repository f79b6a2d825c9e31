package socket

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
)

// deadline bounds everything that a test waits for.
const deadline = 20 * time.Second

// short are limits for tests. The heartbeat of most tests is far away.
var short = limits{connections: 3, header: 300 * time.Millisecond, write: 300 * time.Millisecond, heartbeat: time.Hour}

// socketPath is short: the path of a unix socket has at most 108 bytes.
func socketPath(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "refit") //nolint:usetesting // the path of a unix socket has at most 108 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "run", "agent.sock")
}

// served serves a hub until the test ends.
func served(t *testing.T, l limits) (string, *Hub) {
	t.Helper()
	path, hub := socketPath(t), NewHub()
	listener, err := Listen(t.Context(), path, "no-such-group")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- serve(ctx, listener, hub, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return path, hub
}

func document(sequence int64) *cliv1alpha1.HostStatus {
	return &cliv1alpha1.HostStatus{Kind: cliv1alpha1.KindHostStatus, Node: "cp-1", Sequence: sequence, Phase: "Applying"}
}

func dial(t *testing.T, path string) net.Conn {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(deadline)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// request sends a request as it is and returns the response.
func request(t *testing.T, path, text string) *http.Response {
	t.Helper()
	conn := dial(t, path)
	_, written := io.WriteString(conn, text) // a refused client may not be read
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("%v; write: %v", err, written)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

func get(t *testing.T, path, target string) *http.Response {
	t.Helper()
	return request(t, path, "GET "+target+" HTTP/1.1\r\nHost: agent\r\n\r\n")
}

// stream reads the events of a stream.
type events struct{ lines *bufio.Scanner }

func follow(t *testing.T, path string) events {
	t.Helper()
	response := get(t, path, "/events")
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%s, %s", response.Status, response.Header)
	}
	return events{bufio.NewScanner(response.Body)}
}

func (e events) next(t *testing.T) (name, data string) {
	t.Helper()
	for e.lines.Scan() {
		line := e.lines.Text()
		if rest, ok := strings.CutPrefix(line, "event: "); ok {
			name = rest
		} else if rest, ok := strings.CutPrefix(line, "data: "); ok {
			return name, rest
		}
	}
	t.Fatalf("the stream ended: %v", e.lines.Err())
	return "", ""
}

func (e events) status(t *testing.T) *cliv1alpha1.HostStatus {
	t.Helper()
	name, data := e.next(t)
	out := &cliv1alpha1.HostStatus{}
	if err := json.Unmarshal([]byte(data), out); err != nil || name != cliv1alpha1.EventStatus {
		t.Fatalf("event %s: %v\n%s", name, err, data)
	}
	return out
}

// eventually polls until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(deadline); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %s", what, deadline)
		}
	}
}

func (h *Hub) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.clients)
}

func TestStatusIsTheLastDocument(t *testing.T) {
	path, hub := served(t, short)
	if response := get(t, path, "/status"); response.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("before the agent has read its journal: %s", response.Status)
	}
	hub.Publish(document(1))
	hub.Publish(document(2))
	before := time.Now()
	var got cliv1alpha1.HostStatus
	response := get(t, path, "/status")
	if err := json.NewDecoder(response.Body).Decode(&got); err != nil || got.Sequence != 2 || got.ObservedAt.Before(before) {
		t.Errorf("%v: %+v", err, got)
	}
	if response.Header.Get("Content-Type") != "application/json" || response.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s", response.Header)
	}
}

func TestNothingCanBeWritten(t *testing.T) {
	many := short
	many.connections = 100 // one for each request below
	path, hub := served(t, many)
	hub.Publish(document(1))
	for _, target := range []string{"/status", "/events"} {
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT", "ORDER"} {
			response := request(t, path, method+" "+target+" HTTP/1.1\r\nHost: agent\r\nContent-Length: 2\r\n\r\n{}")
			if method == "CONNECT" && response.StatusCode >= 400 {
				continue // its target is no path
			}
			if response.StatusCode != http.StatusMethodNotAllowed || response.Header.Get("Allow") != "GET" {
				t.Errorf("%s %s: %s", method, target, response.Status)
			}
		}
		for name, text := range map[string]string{
			"a body":         "GET " + target + " HTTP/1.1\r\nHost: agent\r\nContent-Length: 2\r\n\r\n{}",
			"a chunked body": "GET " + target + " HTTP/1.1\r\nHost: agent\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
		} {
			if response := request(t, path, text); response.StatusCode != http.StatusRequestEntityTooLarge {
				t.Errorf("GET %s with %s: %s", target, name, response.Status)
			}
		}
	}
	for _, target := range []string{"/", "/orders", "/status/", "/events/1", "/debug/pprof/", "/metrics"} {
		if response := get(t, path, target); response.StatusCode != http.StatusNotFound {
			t.Errorf("GET %s: %s", target, response.Status)
		}
	}
}

func TestEachChangeIsAnEvent(t *testing.T) {
	path, hub := served(t, short)
	hub.Publish(document(1))
	stream := follow(t, path)
	if got := stream.status(t); got.Sequence != 1 || got.ObservedAt.IsZero() {
		t.Errorf("at once: %+v", got)
	}
	for sequence := int64(2); sequence <= maxPending; sequence++ {
		hub.Publish(document(sequence))
	}
	for sequence := int64(2); sequence <= maxPending; sequence++ {
		if got := stream.status(t).Sequence; got != sequence {
			t.Fatalf("document %d, want %d", got, sequence)
		}
	}
}

func TestHeartbeatIsAnEvent(t *testing.T) {
	often := short
	often.heartbeat = 10 * time.Millisecond
	path, _ := served(t, often)
	stream := follow(t, path)
	for range 3 {
		var beat cliv1alpha1.Heartbeat
		name, data := stream.next(t)
		if err := json.Unmarshal([]byte(data), &beat); err != nil || name != cliv1alpha1.EventHeartbeat || time.Since(beat.ObservedAt) > deadline {
			t.Fatalf("%s %s: %v", name, data, err)
		}
	}
}

// The publisher is the agent between two steps. A client that does not read must neither delay it
// nor keep its connection.
func TestSlowClientIsDisconnectedAndDelaysNobody(t *testing.T) {
	one := short
	one.connections = 1
	path, hub := served(t, one)
	slow := dial(t, path)
	if _, err := io.WriteString(slow, "GET /events HTTP/1.1\r\nHost: agent\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the client is connected", func() bool { return hub.count() == 1 })
	large := document(1)
	large.Waits = strings.Repeat("x", 16<<10)
	longest := time.Duration(0)
	eventually(t, "the slow client is disconnected", func() bool {
		started := time.Now()
		for range 2 * maxPending {
			hub.Publish(large)
		}
		longest = max(longest, time.Since(started))
		return hub.count() == 0
	})
	if longest > deadline/4 {
		t.Errorf("%d documents took %s to publish", 2*maxPending, longest)
	}
	eventually(t, "its connection is free", func() bool { return get(t, path, "/status").StatusCode == http.StatusOK })
}

func TestOneClientTooManyIsRefused(t *testing.T) {
	path, hub := served(t, short)
	hub.Publish(document(1))
	var streams []events
	for range short.connections {
		streams = append(streams, follow(t, path))
	}
	response := get(t, path, "/status")
	if response.StatusCode != http.StatusServiceUnavailable {
		t.Fatalf("client %d: %s", short.connections+1, response.Status)
	}
	hub.Publish(document(2))
	for _, stream := range streams {
		if first, second := stream.status(t), stream.status(t); first.Sequence != 1 || second.Sequence != 2 {
			t.Errorf("%d, %d", first.Sequence, second.Sequence)
		}
	}
}

func TestConnectionIsFreeAfterItsClient(t *testing.T) {
	path, hub := served(t, short)
	hub.Publish(document(1))
	for i := range 5 * short.connections {
		conn := dial(t, path)
		if _, err := io.WriteString(conn, "GET /events HTTP/1.1\r\nHost: agent\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("client %d: %v, %+v", i, err, response)
		}
		_ = conn.Close()
		eventually(t, "the client is gone", func() bool { return hub.count() == 0 })
		eventually(t, "its connection is free", func() bool { return get(t, path, "/status").StatusCode == http.StatusOK })
	}
}

func TestClientThatSendsNothingIsDisconnected(t *testing.T) {
	path, _ := served(t, short)
	for name, text := range map[string]string{"nothing": "", "half a header": "GET /status HTTP/1.1\r\nHost: "} {
		conn := dial(t, path)
		if _, err := io.WriteString(conn, text); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, conn); os.IsTimeout(err) {
			t.Errorf("%s: still connected after %s", name, deadline)
		}
	}
}

func TestHugeHeaderIsRefused(t *testing.T) {
	path, _ := served(t, short)
	text := fmt.Sprintf("GET /status HTTP/1.1\r\nHost: agent\r\nX: %s\r\n\r\n", strings.Repeat("x", 3*maxHeaderBytes))
	if response := request(t, path, text); response.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("%s", response.Status)
	}
}
