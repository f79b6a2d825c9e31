package agentsocket

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"strings"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
)

// Path is the socket of the agent.
const Path = "/run/refit/agent.sock"

const (
	minBackoff = 250 * time.Millisecond
	maxBackoff = 5 * time.Second
	// silence is how long a stream may have no event. The agent sends a heartbeat every 5 s.
	silence = 12 * time.Second
	// maxLine bounds one event: a document has a few KiB.
	maxLine = 1 << 20
)

// errSilent is a stream without heartbeats: the agent hangs or its host is frozen.
var errSilent = fmt.Errorf("the agent has sent nothing for %s", silence)

// Follower follows the status of a host. It connects again when the agent is restarted.
type Follower struct {
	Socket string
	// Report receives each document. Its error ends Follow.
	Report func(*cliv1alpha1.HostStatus) error
	// Alive is called when the agent confirms that the last document is current; nil: nobody needs
	// that.
	Alive func(observedAt time.Time)
	// Lost is called once when the agent is unreachable, also at the start, and again if a socket
	// appears that nobody can connect to. Found is called when the agent responds again.
	Lost  func(err error)
	Found func()
}

// Follow returns when the context ends, when Report fails, or when the user may not connect.
func (f *Follower) Follow(ctx context.Context) error {
	wait, lost, absent := minBackoff, false, false
	for {
		responded := false
		err := f.stream(ctx, func() {
			if responded = true; lost {
				f.Found()
			}
			lost = false
		})
		stopped, failed := errors.AsType[*reportError](err)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case failed:
			return stopped.error
		case errors.Is(err, fs.ErrPermission):
			return fmt.Errorf("only root and the group refit can connect to the agent: %w", err)
		}
		wasAbsent := absent
		if absent = errors.Is(err, fs.ErrNotExist); !lost || wasAbsent && !absent {
			f.Lost(err)
		}
		lost = true
		if responded {
			wait = minBackoff
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
		wait = min(2*wait, maxBackoff)
	}
}

// reportError is an error of the caller, which does not mean that the agent is gone.
type reportError struct{ error }

func (e *reportError) Unwrap() error { return e.error }

// stream reads one stream until it ends, and always returns why.
func (f *Follower) stream(ctx context.Context, responded func()) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watchdog := time.AfterFunc(silence, func() { cancel(errSilent) })
	defer watchdog.Stop()
	body, err := f.open(ctx)
	if err != nil {
		return because(ctx, err)
	}
	defer body.Close()
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxLine)
	name := ""
	for lines.Scan() {
		watchdog.Reset(silence)
		if event, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			name = event
		} else if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			if err := f.event(name, data, responded); err != nil {
				return err
			}
		}
	}
	err = lines.Err()
	if err == nil {
		err = errors.New("the agent has closed the stream")
	}
	return because(ctx, err)
}

// because returns the cause of an interrupted request.
func because(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

func (f *Follower) open(ctx context.Context) (io.ReadCloser, error) {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", f.Socket)
	}
	transport := &http.Transport{DialContext: dial, DisableKeepAlives: true, DisableCompression: true}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://agent/events", http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		response.Body.Close()
		return nil, fmt.Errorf("the agent responds with %s", response.Status)
	}
	return response.Body, nil
}

// event handles one event. Events of a newer agent that this version does not have are ignored.
func (f *Follower) event(name, data string, responded func()) error {
	switch name {
	case cliv1alpha1.EventStatus:
		var status cliv1alpha1.HostStatus
		if err := json.Unmarshal([]byte(data), &status); err != nil {
			return fmt.Errorf("cannot read the status that the agent sent: %w", err)
		}
		responded()
		if err := f.Report(&status); err != nil {
			return &reportError{err}
		}
	case cliv1alpha1.EventHeartbeat:
		var beat cliv1alpha1.Heartbeat
		if err := json.Unmarshal([]byte(data), &beat); err != nil {
			return fmt.Errorf("cannot read the heartbeat that the agent sent: %w", err)
		}
		responded()
		if f.Alive != nil {
			f.Alive(beat.ObservedAt)
		}
	}
	return nil
}
