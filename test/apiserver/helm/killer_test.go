//go:build apiserver

package helm

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"k8s.io/client-go/rest"
)

var errKilled = errors.New("killed")

// A killer is the transport of a process that is killed before or after one of its writes: nothing
// that it sends later reaches the server.
type killer struct {
	mu     sync.Mutex
	at     int // number of the write, from 1; 0 never kills
	after  bool
	writes int
	dead   bool
	late   int // requests after the kill
	die    context.CancelFunc
}

// config returns a configuration whose requests pass the killer.
func (k *killer) config(config *rest.Config) *rest.Config {
	copied := rest.CopyConfig(config)
	copied.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &killedTransport{k, next}
	})
	return copied
}

type killedTransport struct {
	*killer
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
	return nil, errKilled
}

// count counts a write, and reports whether the process dies after this request.
func (k *killer) count(request *http.Request) (bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.dead {
		k.late++
		return false, errKilled
	}
	if request.Method == http.MethodGet || request.Method == http.MethodHead {
		return false, nil
	}
	k.writes++
	if k.writes != k.at {
		return false, nil
	}
	if !k.after {
		k.kill()
		return false, errKilled
	}
	return true, nil
}

func (k *killer) kill() {
	k.dead = true
	if k.die != nil {
		k.die()
	}
}
