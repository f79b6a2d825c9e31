package server

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"sync"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/agentsocket"
	"github.com/refit-dev/refit/internal/engine/operations"
	"github.com/refit-dev/refit/internal/server/api"
)

// localAgent is the connection to the agent on the host of the server. It works without the API
// server, which makes it the only source during most outages.
type localAgent struct {
	socket  string
	now     func() time.Time
	changed func() // called when the connection or the status has changed
	log     *slog.Logger

	mu   sync.Mutex
	link api.LocalAgent // zero on a host without an agent
}

// run follows the agent until the context ends.
func (a *localAgent) run(ctx context.Context) {
	follower := &agentsocket.Follower{
		Socket: a.socket,
		Report: func(status *cliv1alpha1.HostStatus) error {
			a.update(func(link *api.LocalAgent) {
				connect(link, a.now())
				link.Status = *status
			})
			return nil
		},
		Alive: a.confirm,
		Found: func() { a.update(func(link *api.LocalAgent) { connect(link, a.now()) }) },
		Lost:  a.lost,
	}
	if err := follower.Follow(ctx); err != nil && ctx.Err() == nil {
		a.log.Warn("the agent of this host is not followed", "error", err)
		a.update(func(link *api.LocalAgent) { disconnect(link, a.now(), err) })
	}
}

func (a *localAgent) update(change func(*api.LocalAgent)) {
	a.mu.Lock()
	change(&a.link)
	a.mu.Unlock()
	a.changed()
}

// confirm records that the last status is still current.
func (a *localAgent) confirm(observedAt time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.link.Status.Kind != "" {
		a.link.Status.ObservedAt = observedAt
	}
}

// lost records that the agent does not answer. A host without its socket has none.
func (a *localAgent) lost(err error) {
	if errors.Is(err, fs.ErrNotExist) && a.get().Status.Kind == "" {
		return
	}
	a.update(func(link *api.LocalAgent) { disconnect(link, a.now(), err) })
}

func (a *localAgent) get() api.LocalAgent {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.link
}

func connect(link *api.LocalAgent, now time.Time) {
	if !link.Connected {
		link.Connected, link.Since, link.Error = true, now.UTC(), ""
	}
}

func disconnect(link *api.LocalAgent, now time.Time, err error) {
	if link.Connected || link.Since.IsZero() {
		link.Connected, link.Since = false, now.UTC()
	}
	link.Error = err.Error()
}

// isOf reports whether an agent belongs to the cluster of a copy. A host may be a node of another
// cluster, which can have a node of the same name.
func isOf(c *operations.Copy, status *cliv1alpha1.HostStatus) bool {
	if report := c.Reports[status.Node]; report != nil && status.Agent != nil && status.Agent.BootID == report.Status.BootID {
		return true
	}
	if status.Upgrade == nil { // the host was booted since the last report
		return false
	}
	for _, u := range c.Operations {
		if string(u.UID) == status.Upgrade.OperationUID {
			return true
		}
	}
	return false
}
