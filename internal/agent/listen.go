package agent

import (
	"context"
	"sync"

	"github.com/refit-dev/refit/internal/agent/cluster"
)

// listen hears orders and questions.
func (a *Agent) listen(ctx context.Context) {
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
				a.teller.seen(event.Upgrade)
			case event.Report != nil:
				a.reports.asked(event.Report)
			case event.Gone == cluster.KindReport:
				a.reports.again()
			}
		}
	}
}
