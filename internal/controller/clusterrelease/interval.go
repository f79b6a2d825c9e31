package clusterrelease

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// writeTimes is when each status was last written by this process.
type writeTimes struct {
	mu    sync.Mutex
	times map[types.UID]time.Time
}

// remaining is how long the next write of a status has to wait.
func (w *writeTimes) remaining(uid types.UID, now time.Time) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	last, written := w.times[uid]
	if !written {
		return 0
	}
	return max(0, last.Add(writeInterval).Sub(now))
}

func (w *writeTimes) set(uid types.UID, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.times == nil {
		w.times = map[types.UID]time.Time{}
	}
	w.times[uid] = at
}
