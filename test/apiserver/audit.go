package apiserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"testing"
	"time"
)

const auditLog = "audit.log"

// auditPolicy excludes the harness's own requests: they would outnumber those of a test.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- level: None
  users: [` + harnessUser + `]
- level: Metadata
`

// An Event is one request that the server received, even if it refused it.
type Event struct {
	At        time.Time // when it arrived
	User      string    // empty when the server could not authenticate it
	UserAgent string
	Verb      string // list, watch, create, …; get for non-resource URLs
	URI       string // including the query
	Code      int    // HTTP status of the response; 0 when the server was stopped before it responded
}

// Audit returns every request so far, in the order of arrival, except for the harness's own. The
// server must have been started with Options.Audit.
//
// It includes every request that has been answered: the server logs a request when it arrives,
// before it responds. The requests of a process that has exited are therefore counted exactly; give
// it a user of its own (As) and call AuditOf. The server also makes requests to itself, as
// system:apiserver.
func (s *Server) Audit(tb testing.TB) []Event {
	tb.Helper()
	if !s.options.Audit {
		tb.Fatal("the server was started without Options.Audit")
	}
	events, err := s.audit(tb.Context())
	if err != nil {
		tb.Fatalf("reading the audit log: %v", err)
	}
	return events
}

// AuditOf returns every request of a user so far; see Audit.
func (s *Server) AuditOf(tb testing.TB, user string) []Event {
	tb.Helper()
	return slices.DeleteFunc(s.Audit(tb), func(e Event) bool { return e.User != user })
}

// audit reads the requests that have arrived, and waits for their outcome: the server logs it after
// it has started to respond.
func (s *Server) audit(ctx context.Context) ([]Event, error) {
	requests, err := readAudit(s.file(auditLog))
	if err != nil {
		return nil, err
	}
	arrived := len(requests)
	err = poll(ctx, settleDeadline, "the outcome of all requests", func() error {
		if requests, err = readAudit(s.file(auditLog)); err != nil {
			return err
		}
		for _, r := range requests[:arrived] {
			if !r.answered && r.At.After(s.stopped) {
				return fmt.Errorf("%s of %s by %s is still open", r.Verb, r.URI, r.User)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	events := make([]Event, 0, arrived)
	for _, r := range requests[:arrived] {
		events = append(events, r.Event)
	}
	return events, nil
}

// auditLine is the part of a log line that audit reads. A request has one line when it arrives and
// one when it is answered, with the same ID; a watch has a third one when it ends, and a request
// without valid credentials only the second.
type auditLine struct {
	AuditID    string
	Stage      string
	Verb       string
	RequestURI string
	UserAgent  string
	User       struct{ Username string }

	RequestReceivedTimestamp time.Time
	ResponseStatus           struct{ Code int }
}

type auditedRequest struct {
	Event
	answered bool
}

// readAudit reads the log. Its last line may be incomplete.
func readAudit(file string) ([]auditedRequest, error) {
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // the first request creates the file
		return nil, err
	}
	var requests []auditedRequest
	place := map[string]int{}
	for raw := range bytes.Lines(text) {
		if !bytes.HasSuffix(raw, []byte("\n")) {
			break
		}
		var line auditLine
		if err := json.Unmarshal(raw, &line); err != nil {
			return nil, fmt.Errorf("reading %q: %w", raw, err)
		}
		at, known := place[line.AuditID]
		if !known {
			at = len(requests)
			place[line.AuditID] = at
			requests = append(requests, auditedRequest{Event: Event{
				At: line.RequestReceivedTimestamp, User: line.User.Username, UserAgent: line.UserAgent, Verb: line.Verb, URI: line.RequestURI,
			}})
		}
		if line.Stage != "RequestReceived" {
			requests[at].answered, requests[at].Code = true, line.ResponseStatus.Code
		}
	}
	return requests, nil
}
