package agents

import (
	"context"
	"sync"
)

// newest writes the newest of what it is given. What was given while another one was being written, and is no longer the newest then, is never written.
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
