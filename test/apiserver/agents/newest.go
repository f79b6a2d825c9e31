package agents

import (
	"context"
	"sync"
)

// newest writes the latest value that it is given. It skips values that are superseded while
// another write is in flight.
type newest struct {
	mu      sync.Mutex
	pending func(context.Context) error
	running bool
}

func (n *newest) put(a *Agents, write func(context.Context) error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pending = write
	if !n.running {
		n.running = true
		a.begin(func(ctx context.Context) { n.run(ctx, a) })
	}
}

func (n *newest) run(ctx context.Context, a *Agents) {
	for {
		n.mu.Lock()
		write := n.pending
		n.pending = nil
		n.running = write != nil && ctx.Err() == nil
		running := n.running
		n.mu.Unlock()
		if !running {
			return
		}
		a.write(ctx, write)
	}
}
