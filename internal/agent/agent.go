package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/cluster"
	"github.com/refit-dev/refit/internal/agent/report"
	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/agent/steps"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Config is what an agent is started with.
type Config struct {
	Settings   settings.Settings
	KeysDir    string
	Kubeconfig string
	Version    string
	Log        *slog.Logger
}

// Agent is the loop on a host. One goroutine does the work; others hear orders and tell the cluster.
type Agent struct {
	Config
	id      host.Identity
	keys    []artifact.PublicKey
	store   *artifact.Store
	systemd *host.Systemd
	client  api
	teller  *teller
	reports *reporter

	memory node.HostState
	// work is the one that is open, or the last one; nil if there was none.
	work  *runner
	known known
	// orders has the newest NodeUpgrade that nobody has looked at.
	orders *latest
}

// Run works until the context ends. A work that was cut off is taken up at once, whether there is an API or not.
func Run(ctx context.Context, config Config) error {
	if err := durable.MkdirAll(config.Settings.StateDir, 0o700); err != nil {
		return err
	}
	lock, err := host.Lock(config.Settings.LockFile())
	if err != nil {
		return fmt.Errorf("another agent works on this host: %w", err)
	}
	defer lock.Close()
	a, err := start(ctx, config)
	if err != nil {
		return err
	}
	defer a.systemd.Close()

	var running sync.WaitGroup
	defer running.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a.keepManifests(ctx)
	running.Go(func() { a.teller.run(ctx) })
	running.Go(func() { a.reports.run(ctx) })
	running.Go(func() { a.listen(ctx) })
	return a.toil(ctx)
}

func start(ctx context.Context, config Config) (*Agent, error) {
	a := &Agent{Config: config, orders: newLatest(), known: known{cache: report.NewCache()}}
	var err error
	if a.id, err = host.Identify(); err != nil {
		return nil, err
	}
	a.teller = newTeller(config.Log, a.id.BootID, config.Version)
	if a.memory, err = loadMemory(config.Settings.StateFile(), a.id.MachineID); err != nil {
		return nil, err
	}
	if a.keys, err = artifact.LoadKeys(config.KeysDir); err != nil && a.memory.Open == "" {
		return nil, err // what was begun is finished without them: it was verified when it was accepted
	}
	if a.store, err = artifact.OpenStore(config.Settings.StoreDir()); err != nil {
		return nil, err
	}
	if a.systemd, err = host.ConnectSystemd(ctx); err != nil {
		return nil, err
	}
	if err := a.resume(); err != nil {
		return nil, err
	}
	if a.client, err = a.connect(ctx); err != nil {
		return nil, err
	}
	a.teller.client = a.client
	a.reports = newReporter(a)
	a.know()
	return a, nil
}

// api is the cluster as its node sees it: *cluster.Client.
type api interface {
	report.API
	NodeName() string
	Node(ctx context.Context) (*corev1.Node, error)
	Release(ctx context.Context, name string) (*refitv1alpha1.ClusterRelease, error)
	Watch(ctx context.Context, events chan<- cluster.Event)
	ApplyUpgradeStatus(ctx context.Context, name string, status refitv1alpha1.NodeUpgradeStatus) error
	EnsureReport(ctx context.Context, of *corev1.Node) error
	ApplyReportStatus(ctx context.Context, status refitv1alpha1.NodeReportStatus) error
}

// keepManifests copies the static pod manifests of a control plane that is well, so that one that gets lost can be brought back.
func (a *Agent) keepManifests(ctx context.Context) {
	if !steps.HasControlPlane() || a.memory.Open != "" {
		return
	}
	server, err := steps.ProbeAPIServer(ctx)
	if err == nil && server.Ready {
		err = steps.BackUpManifests(a.Settings.StateDir)
	}
	if err != nil {
		a.Log.Warn("the manifests could not be copied", "error", err)
	}
}

// connect waits for the kubelet's credentials: on a host that is joining they are not there yet. A host at work does not wait: the file may be what the
// work has to mend.
func (a *Agent) connect(ctx context.Context) (api, error) {
	if a.memory.Open != "" {
		return cluster.New(a.Kubeconfig, a.Version, a.work.host.Upgrade.NodeName), nil
	}
	for told := false; ; told = true {
		client, err := cluster.Connect(a.Kubeconfig, a.Version)
		if err == nil {
			return client, nil
		}
		if !told {
			a.Log.Info("waiting for the kubelet's credentials", "kubeconfig", a.Kubeconfig, "error", err)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(5 * time.Second):
		}
	}
}

// resume opens the journal of the work that the host remembers. What was begun must be opened; what has ended need not.
func (a *Agent) resume() error {
	dir := a.memory.Open
	if dir == "" {
		dir = a.memory.Last
	}
	if dir == "" {
		a.teller.answer(a.memory.Result)
		return nil
	}
	work, err := a.open(dir)
	if err == nil && a.memory.Open != "" {
		err = work.host.CheckSaved()
	}
	if err != nil && a.memory.Open == "" {
		a.Log.Warn("the last work, which has ended, cannot be read", "work", dir, "error", err)
		a.teller.answer(a.memory.Result)
		return nil
	}
	if err != nil {
		return err
	}
	if ca, err := clusterCA(); err == nil && work.host.Upgrade.CA != "" && ca != work.host.Upgrade.CA {
		a.Log.Warn("this host was joined to another cluster since; the work of the former one is left", "work", dir)
		a.memory.Open, a.memory.Last = "", ""
		return storeMemory(a.Settings.StateFile(), a.memory)
	}
	a.work = work
	state := node.Read(a.work.journal.Records())
	if a.memory.Open != "" && state.Outcome != "" {
		return a.ended(state) // it was written down, and what follows it was cut off
	}
	if a.memory.Open == "" && state.Outcome == "" {
		a.memory.Open = dir // the journal decides: it was reopened, and the memory of it was cut off
		if err := storeMemory(a.Settings.StateFile(), a.memory); err != nil {
			return err
		}
	}
	a.teller.tell(state)
	a.teller.answer(a.memory.Result)
	return nil
}

// toil does one thing after the other: a newer order between two steps, else the next step, else it waits.
func (a *Agent) toil(ctx context.Context) error {
	defer a.rest()
	for ctx.Err() == nil {
		if order := a.orders.take(); order != nil {
			a.consider(ctx, order)
		}
		more, err := a.step(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			if failure, ok := errors.AsType[*node.Failure](err); ok && failure.Reason == "JournalBroken" {
				// Without a journal nothing may be done. The host is left as it is, and says so.
				a.rest()
				a.teller.broken(failure)
				a.Log.Error("the journal is broken; nothing more is done until the agent is started again", "error", err)
				<-ctx.Done()
				return err
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
	if a.work != nil && a.memory.Open != "" {
		a.work.rest()
	}
}

// step does the next thing of the open work.
func (a *Agent) step(ctx context.Context) (bool, error) {
	if a.work == nil || a.memory.Open == "" {
		return false, nil
	}
	more, err := a.work.move(a.interruptible(ctx))
	if errors.Is(err, errNewOrder) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	if state := node.Read(a.work.journal.Records()); state.Outcome != "" {
		return true, a.ended(state)
	}
	return more, nil
}

// ended is what follows the end of a work. It can be repeated.
func (a *Agent) ended(state *node.State) error {
	next := a.memory
	next.Last, next.Open = next.Open, ""
	next.Files = maps.Clone(next.Files)
	if next.Files == nil {
		next.Files = map[string]string{}
	}
	switch {
	case state.Outcome == refitv1alpha1.NodeSucceeded:
		next.Highest = state.Upgrade.To
		maps.Copy(next.Files, a.work.host.InstalledDigests())
		if err := steps.BackUpManifests(a.Settings.StateDir); err != nil {
			a.Log.Warn("the manifests could not be copied", "error", err)
		}
	case next.Highest == state.Upgrade.To: // it was there, and was put back
		next.Highest = state.Upgrade.From
		maps.Copy(next.Files, a.work.host.PreviousDigests())
	}
	if err := host.ReleaseReserve(a.Settings.ReserveFile()); err != nil {
		a.Log.Warn("the reserve could not be given up", "error", err)
	}
	if err := storeMemory(a.Settings.StateFile(), next); err != nil {
		return err
	}
	a.memory = next
	a.Log.Info("the work has ended", "outcome", state.Outcome, "operation", state.Upgrade.Operation.Name, "from", state.Upgrade.From, "to", state.Upgrade.To)
	a.teller.tell(state)
	if a.reports != nil { // at the start there are none yet, and the first is about to be made
		a.know()
		a.reports.again()
	}
	return nil
}
