package agent

import (
	"context"
	"sync"

	"github.com/refit-dev/refit/internal/agent/cluster"
)

// watch receives orders and requests for reports.
func (a *Agent) watch(ctx context.Context) {
	events := make(chan cluster.Event)
	var watching sync.WaitGroup
	defer watching.Wait()
	watching.Go(func() { a.client.Watch(ctx, events) })
	for {
		select {
		case <-ctx.Done():
			return
		case event := <-events:
			switch {
			case event.Upgrade != nil:
				a.orders.put(event.Upgrade)
				a.status.observe(event.Upgrade)
			case event.Report != nil:
				a.reports.requested(event.Report)
			case event.Gone == cluster.KindReport:
				a.reports.trigger()
			}
		}
	}
}
