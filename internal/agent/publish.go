package agent

import (
	"context"
	"os"
	"reflect"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/restore"
	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/agent/socket"
	"github.com/refit-dev/refit/internal/upgrade/hoststatus"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// published is what the socket shows beyond the status of the NodeUpgrade.
type published struct {
	hub   *socket.Hub // nil: there is no socket
	agent cliv1alpha1.HostAgent
	node  string
	host  node.HostState
	// state is that of the last upgrade. It does not change: each record leads to another one.
	state   *node.State
	step    hoststatus.StepDeadline
	restore *cliv1alpha1.HostRestore
	api     *cliv1alpha1.HostAPI
	last    cliv1alpha1.HostStatus // without its time
	ready   bool                   // the journal was read
}

// publish passes the status to the socket if it has changed. The caller holds the lock. The journal
// is never written under this lock, so neither the disk nor a client delays it.
func (w *statusWriter) publish() {
	p := &w.published
	if p.hub == nil || !p.ready {
		return
	}
	status := w.status
	document := hoststatus.New(&hoststatus.Known{
		Host: p.host, State: p.state, Status: &status, Node: p.node, Agent: &p.agent, Refusal: w.refusal, Waiting: w.waiting,
		Step: p.step, Restore: p.restore, API: p.api,
	}, time.Now())
	timeless := *document
	timeless.ObservedAt = time.Time{}
	if reflect.DeepEqual(timeless, p.last) {
		return
	}
	p.last = timeless
	p.hub.Publish(document)
}

// show changes what the socket shows beyond the status.
func (w *statusWriter) show(change func(p *published)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.published)
	w.publish()
}

// setDeadline sets when the step that the agent executes fails at the latest.
func (w *statusWriter) setDeadline(step string, at time.Time) {
	w.show(func(p *published) { p.step = hoststatus.StepDeadline{Step: step, At: at} })
}

// setReachable sets whether the API server has answered the last write.
func (w *statusWriter) setReachable(reachable bool) {
	w.show(func(p *published) {
		if p.api == nil || p.api.Reachable != reachable {
			p.api = &cliv1alpha1.HostAPI{Reachable: reachable, Since: time.Now().UTC().Truncate(time.Second)}
		}
	})
}

// serveSocket serves the socket until the context ends. Without it the agent works as before.
func serveSocket(ctx context.Context, config Config, hub *socket.Hub) {
	if config.Socket == "" {
		return
	}
	listener, err := socket.Listen(ctx, config.Socket, socket.Group)
	if err == nil {
		err = socket.Serve(ctx, listener, hub)
	}
	if err != nil {
		config.Log.Warn("cannot serve the status on the socket; the agent continues without it", "socket", config.Socket, "error", err)
	}
}

// showProcess sets the process that the socket names.
func (w *statusWriter) showProcess(hub *socket.Hub, version, boot string) {
	w.published.hub = hub
	w.published.agent = cliv1alpha1.HostAgent{Version: version, PID: os.Getpid(), BootID: boot, StartTime: time.Now().UTC().Truncate(time.Second)}
}

// showRestore shows the unfinished restore of etcd, if there is one.
func (a *Agent) showRestore() {
	restoring, err := restoreStatus(a.Settings)
	if err != nil {
		a.Log.Warn("cannot read the restore of etcd for the socket", "error", err)
		return
	}
	a.status.show(func(p *published) { p.restore = restoring })
}

func restoreStatus(s settings.Settings) (*cliv1alpha1.HostRestore, error) {
	restoring, err := RestoreInProgress(s)
	if err != nil {
		return nil, err
	}
	return describeRestore(restoring), nil
}

func describeRestore(p *restore.InProgress) *cliv1alpha1.HostRestore {
	if p == nil {
		return nil
	}
	return &cliv1alpha1.HostRestore{
		Run: p.Plan.Run.String(), Situation: string(p.Plan.Situation), Step: p.Step, Canceling: p.Canceling, Error: hoststatus.FailureOf(p.Failure),
	}
}

// StatusDocument reads the status from files, like Status.
func StatusDocument(s settings.Settings, now time.Time) (*cliv1alpha1.HostStatus, error) {
	restoring, err := restoreStatus(s)
	if err != nil {
		return nil, err
	}
	local, err := Status(s)
	if err != nil {
		return nil, err
	}
	document := documentOf(local.Host, local.State, now)
	document.Restore = restoring
	return document, nil
}

func documentOf(host node.HostState, state *node.State, now time.Time) *cliv1alpha1.HostStatus {
	return hoststatus.New(&hoststatus.Known{Host: host, State: state}, now)
}
