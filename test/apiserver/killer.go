package apiserver

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"k8s.io/client-go/rest"
)

// ErrKilled is the error of each request of a killed process.
var ErrKilled = errors.New("killed")

// A Killer is the transport of a process that is killed before or after one of its writes: nothing
// that it sends later reaches the server. Reads and dry runs are no writes.
type Killer struct {
	At    int                // number of the write, from 1; 0 never kills
	After bool               // kill after the write
	Die   context.CancelFunc // called at the kill, unless nil

	mu     sync.Mutex
	writes int
	dead   bool
}

// Config returns a configuration whose requests pass the killer.
func (k *Killer) Config(config *rest.Config) *rest.Config {
	copied := rest.CopyConfig(config)
	copied.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &killedTransport{k, next}
	})
	return copied
}

// Writes returns the number of writes so far.
func (k *Killer) Writes() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.writes
}

// Dead reports whether the process has been killed.
func (k *Killer) Dead() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.dead
}

type killedTransport struct {
	*Killer
	next http.RoundTripper
}

func (t *killedTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	now, err := t.count(request)
	if err != nil {
		return nil, err
	}
	response, err := t.next.RoundTrip(request)
	if !now {
		return response, err
	}
	if err == nil {
		response.Body.Close()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kill()
	return nil, ErrKilled
}

// count counts a write, and reports whether the process dies after this request.
func (k *Killer) count(request *http.Request) (bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.dead {
		return false, ErrKilled
	}
	if request.Method == http.MethodGet || request.Method == http.MethodHead || request.URL.Query().Has("dryRun") {
		return false, nil
	}
	k.writes++
	if k.writes != k.At {
		return false, nil
	}
	if !k.After {
		k.kill()
		return false, ErrKilled
	}
	return true, nil
}

func (k *Killer) kill() {
	k.dead = true
	if k.Die != nil {
		k.Die()
	}
}
