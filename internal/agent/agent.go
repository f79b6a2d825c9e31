package agent

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/backup"
	"github.com/refit-dev/refit/internal/agent/cluster"
	"github.com/refit-dev/refit/internal/agent/report"
	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/agent/socket"
	"github.com/refit-dev/refit/internal/agent/steps"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Config is the configuration of an agent.
type Config struct {
	Settings   settings.Settings
	KeysDir    string
	Kubeconfig string
	Version    string
	// Socket is the path of the socket that serves the status; empty: none.
	Socket string
	Log    *slog.Logger
}

// Agent is the loop on a host. One goroutine executes steps; others receive orders and write
// status.
type Agent struct {
	Config
	id      host.Identity
	store   *artifact.Store
	systemd *host.Systemd
	client  api
	status  *statusWriter
	reports *reporter
	backups *backup.Manager

	state node.HostState
	// upgrade is the open upgrade, or the last one; nil if there was none.
	upgrade *runner
	// unresumable is why the open upgrade cannot be resumed; nil if it can.
	unresumable *node.Failure
	reportState reportState
	// orders holds the latest NodeUpgrade that was not handled yet.
	orders *latestOrder
	waits  permission
	clock  clusterClock
}

// Run runs the agent until the context ends. It resumes an interrupted upgrade immediately, even
// without the API.
func Run(ctx context.Context, config Config) error {
	lock, err := lockRunning(config)
	if err != nil {
		return err
	}
	defer lock.Close()
	var serving sync.WaitGroup
	defer serving.Wait()
	served, stop := context.WithCancel(ctx)
	defer stop()
	hub := socket.NewHub()
	// First, because the start may wait for the kubelet's credentials, or restore etcd.
	serving.Go(func() { serveSocket(served, config, hub) })
	a, err := start(ctx, config, hub)
	if err != nil {
		return err
	}
	defer a.systemd.Close()

	var running sync.WaitGroup
	defer running.Wait()
	defer a.backups.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := a.finishRestore(ctx); err != nil {
		return err
	}
	a.keepManifests(ctx)
	running.Go(func() { a.recordBackups(ctx) })
	running.Go(func() { a.status.run(ctx) })
	running.Go(func() { a.reports.run(ctx) })
	running.Go(func() { a.watch(ctx) })
	if a.unresumable != nil {
		return a.waitBroken(ctx, a.unresumable)
	}
	return a.loop(ctx)
}

func start(ctx context.Context, config Config, hub *socket.Hub) (*Agent, error) {
	a := &Agent{Config: config, orders: newLatestOrder(), reportState: reportState{cache: report.NewCache()}}
	var err error
	if a.id, err = identify(); err != nil {
		a.restoreInterrupted()
		return nil, err
	}
	a.status = newStatusWriter(config.Log, a.id.BootID, config.Version)
	a.status.showProcess(hub, config.Version, a.id.BootID)
	if err := a.readState(); err != nil {
		return nil, err
	}
	a.resumeBackups(ctx)
	if a.store, err = artifact.OpenStore(config.Settings.StoreDir()); err != nil {
		return nil, err
	}
	if a.systemd, err = host.ConnectSystemd(ctx); err != nil {
		return nil, err
	}
	if err := a.resume(); err != nil {
		a.unresumable = a.cannotResume(err)
	}
	a.showRestore()
	a.status.show(func(p *published) { p.ready = true })
	if a.client, err = a.connect(ctx); err != nil {
		return nil, err
	}
	a.status.client = a.client
	a.status.show(func(p *published) { p.node = a.client.NodeName() })
	a.reports = newReporter(a)
	a.updateReportState()
	return a, nil
}

// identify is changed by tests only.
var identify = host.Identify

// api is the API client of the node: *cluster.Client.
type api interface {
	report.API
	NodeName() string
	Node(ctx context.Context) (*corev1.Node, error)
	Release(ctx context.Context, name string) (*refitv1alpha1.ClusterRelease, error)
	Operation(ctx context.Context, name string) (*refitv1alpha1.ClusterUpgrade, error)
	Watch(ctx context.Context, events chan<- cluster.Event)
	ApplyUpgradeStatus(ctx context.Context, name string, status refitv1alpha1.NodeUpgradeStatus) error
	EnsureReport(ctx context.Context, of *corev1.Node) error
	ApplyReportStatus(ctx context.Context, status refitv1alpha1.NodeReportStatus) error
}

// keepManifests copies the static pod manifests of a healthy control plane, so that an operator can
// restore a lost one.
func (a *Agent) keepManifests(ctx context.Context) {
	if !steps.HasControlPlane() || a.partlyChanged() {
		return
	}
	server, err := steps.ProbeAPIServer(ctx)
	if err == nil && server.Ready {
		err = steps.BackUpManifests(a.Settings.StateDir)
	}
	if err != nil {
		a.Log.Warn("cannot copy the static pod manifests", "error", err)
	}
}

// connect waits for the kubelet's credentials, which do not exist before the host joins. It does
// not wait if an upgrade is open, which may have to repair them.
func (a *Agent) connect(ctx context.Context) (api, error) {
	if a.state.Open != "" && a.upgrade != nil {
		return cluster.New(a.Kubeconfig, a.Version, a.upgrade.host.Upgrade.NodeName), nil
	}
	for logged := false; ; logged = true {
		client, err := cluster.Connect(a.Kubeconfig, a.Version)
		if err == nil {
			return client, nil
		}
		if !logged {
			a.Log.Info("waiting for the kubelet's credentials", "kubeconfig", a.Kubeconfig, "error", err)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(5 * time.Second):
		}
	}
}

// resume opens the journal of the upgrade in the host state. It fails only for an open upgrade.
func (a *Agent) resume() error {
	a.status.setHost(a.state)
	dir := a.state.Open
	if dir == "" {
		dir = a.state.Last
	}
	if dir == "" {
		a.status.setResult(a.state.Result)
		return nil
	}
	upgrade, err := a.load(dir)
	if err == nil && a.state.Open != "" {
		err = upgrade.host.CheckSaved()
	}
	if err != nil && a.state.Open == "" {
		a.Log.Warn("cannot read the last upgrade, which is finished", "upgrade", dir, "error", err)
		a.status.setResult(a.state.Result)
		return nil
	}
	if err != nil {
		return err
	}
	if !sameCluster(&upgrade.host.Upgrade, steps.ClusterCA()) {
		return a.leaveCluster(upgrade)
	}
	a.upgrade = upgrade
	state := node.Read(a.upgrade.journal.Records())
	if a.state.Open != "" && state.Outcome != "" {
		return a.finish(state) // interrupted after the last record
	}
	if a.state.Open == "" && state.Outcome == "" {
		a.state.Open = dir // interrupted after the journal was reopened
		if err := saveState(a.Settings.StateFile(), a.state); err != nil {
			return err
		}
	}
	a.status.setState(state)
	a.status.setResult(a.state.Result)
	return nil
}

// loop handles a newer order between two steps, or else runs the next step, or else waits.
func (a *Agent) loop(ctx context.Context) error {
	defer a.rest()
	for ctx.Err() == nil {
		if order := a.orders.take(); order != nil {
			a.handle(ctx, order)
		}
		more, err := a.step(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			if failure, ok := errors.AsType[*node.Failure](err); ok && failure.Reason == "JournalBroken" {
				// Without a journal the host must not be changed: report it and wait.
				a.rest()
				a.status.broken(failure)
				a.Log.Error("the journal is broken; the agent does nothing until it is restarted", "error", err)
				return a.waitBroken(ctx, failure)
			}
			return err
		case more:
			continue
		}
		a.rest()
		select {
		case <-ctx.Done():
		case <-a.orders.wake:
		}
	}
	return nil
}

func (a *Agent) rest() {
	if a.upgrade != nil && a.state.Open != "" {
		a.upgrade.rest()
	}
}

// step runs the next move of the open upgrade.
func (a *Agent) step(ctx context.Context) (bool, error) {
	if a.upgrade == nil || a.state.Open == "" {
		return false, nil
	}
	a.stopBackup() // before the wait, which proves what the move needs
	err := a.upgrade.await(a.orders.interrupt(ctx))
	more := false
	if err == nil {
		more, err = a.move(ctx)
	}
	if errors.Is(err, errNewOrder) || errors.Is(err, errLate) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	if state := node.Read(a.upgrade.journal.Records()); state.Outcome != "" {
		return true, a.finish(state)
	}
	return more, nil
}

// move executes the next move if it may start now.
func (a *Agent) move(ctx context.Context) (bool, error) {
	if may, err := a.mayMove(ctx); !may || err != nil {
		return false, err
	}
	return a.upgrade.move(a.interruptible(ctx))
}

// finish updates the host state after an upgrade. It can be repeated.
func (a *Agent) finish(state *node.State) error {
	next := a.state
	next.Last, next.Open = next.Open, ""
	next.Files = maps.Clone(next.Files)
	if next.Files == nil {
		next.Files = map[string]string{}
	}
	switch {
	case state.Outcome == refitv1alpha1.NodeSucceeded:
		next.Highest, next.Unresumed = state.Upgrade.To, nil
		maps.Copy(next.Files, a.upgrade.host.InstalledDigests())
		if err := steps.BackUpManifests(a.Settings.StateDir); err != nil {
			a.Log.Warn("cannot copy the static pod manifests", "error", err)
		}
	case next.Highest == state.Upgrade.To: // it was rolled back after success
		next.Highest = state.Upgrade.From
		maps.Copy(next.Files, a.upgrade.host.PreviousDigests())
	}
	a.releaseHost(state.Outcome)
	if err := saveState(a.Settings.StateFile(), next); err != nil {
		return err
	}
	a.state = next
	a.status.setHost(next)
	a.upgrade.host.UnlockPackages()
	a.Log.Info("upgrade finished", "outcome", state.Outcome, "operation", state.Upgrade.Operation.Name, "from", state.Upgrade.From, "to", state.Upgrade.To)
	a.status.setState(state)
	if a.reports != nil { // nil during the start, before the first report
		a.updateReportState()
		a.reports.trigger()
	}
	return nil
}
