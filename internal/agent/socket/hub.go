package socket

import (
	"sync"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
)

// maxPending is how many documents a client may be behind before it is disconnected.
const maxPending = 64

// Hub passes each document to all clients. Its lock is held only for changes in memory.
type Hub struct {
	mu      sync.Mutex
	latest  *cliv1alpha1.HostStatus
	clients map[*client]struct{}
}

// client is one stream of documents.
type client struct {
	// pending is closed when the client is disconnected because it is too slow.
	pending chan *cliv1alpha1.HostStatus
}

// NewHub returns a hub without a document.
func NewHub() *Hub { return &Hub{clients: map[*client]struct{}{}} }

// Publish passes a document to all clients. The caller must not change it afterwards. Publish never
// waits: a client whose queue is full is disconnected, and gets the current document when it
// connects again.
func (h *Hub) Publish(document *cliv1alpha1.HostStatus) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.latest = document
	for c := range h.clients {
		select {
		case c.pending <- document:
		default:
			delete(h.clients, c)
			close(c.pending)
		}
	}
}

// current returns the last document, nil before the first.
func (h *Hub) current() *cliv1alpha1.HostStatus {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.latest
}

// subscribe returns the last document and a client that gets every later one.
func (h *Hub) subscribe() (*cliv1alpha1.HostStatus, *client) {
	c := &client{pending: make(chan *cliv1alpha1.HostStatus, maxPending)}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clients[c] = struct{}{}
	return h.latest, c
}

func (h *Hub) unsubscribe(c *client) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.clients, c)
}
