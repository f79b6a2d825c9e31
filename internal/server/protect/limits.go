package protect

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxLimits bounds the memory of a Limits. Beyond it, those that are not in use are dropped.
const maxLimits = 10_000

// Limits limits the rate of requests of each client.
type Limits struct {
	every rate.Limit
	burst int

	mu      sync.Mutex
	clients map[string]*rate.Limiter
}

// NewLimits returns limits of this many requests per second and at once.
func NewLimits(perSecond float64, burst int) *Limits {
	return &Limits{every: rate.Limit(perSecond), burst: burst, clients: map[string]*rate.Limiter{}}
}

// Allow reports whether a client may send a request now, or after which time.
func (l *Limits) Allow(client string, now time.Time) (after time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	limiter := l.clients[client]
	if limiter == nil {
		l.drop(now)
		limiter = rate.NewLimiter(l.every, l.burst)
		l.clients[client] = limiter
	}
	if limiter.AllowN(now, 1) {
		return 0, true
	}
	return time.Duration(float64(time.Second) / float64(l.every)), false
}

// drop removes the limits that are full again, which are as good as new, once there are too many.
func (l *Limits) drop(now time.Time) {
	if len(l.clients) < maxLimits {
		return
	}
	for client, limiter := range l.clients {
		if limiter.TokensAt(now) >= float64(l.burst) {
			delete(l.clients, client)
		}
	}
	if len(l.clients) >= maxLimits {
		clear(l.clients)
	}
}
