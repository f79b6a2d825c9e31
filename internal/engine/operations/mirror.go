package operations

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Mirror keeps a copy of a cluster's operations, nodes, orders and ClusterReleases up to date, and
// reports what has changed. It keeps what progress reports need and drops everything else, so that
// thousands of nodes fit into little memory. While the API server is unreachable, the copy is the
// last known state.
type Mirror struct {
	*Cluster

	// Describe describes a ClusterRelease. Its content is not kept.
	Describe func(*refitv1alpha1.ClusterRelease) cliv1alpha1.ListedRelease
	// Changed receives what has changed, in batches. The changes are in the copy already.
	Changed func(Changes)

	mu      sync.RWMutex
	copy    Copy
	changes Changes
	current map[string]bool // the parts of the copy that are watched
	wake    chan struct{}
}

// Copy is the state of a cluster that a Mirror has. Objects in it are never modified.
type Copy struct {
	Operations map[string]*refitv1alpha1.ClusterUpgrade
	Orders     map[string]*refitv1alpha1.NodeUpgrade
	Reports    map[string]*refitv1alpha1.NodeReport
	Nodes      map[string]NodeFacts
	Releases   map[string]cliv1alpha1.ListedRelease
	// Leader is the host or pod that holds the Lease of the controllers, as of the last probe.
	Leader string
	// Gaps are the parts that the API server refuses to list, by name, with its answer.
	Gaps map[string]string
	// NotInstalled is true if the cluster has no CRDs of Refit.
	NotInstalled bool
	// APIServers are the addresses of the API servers beside that of the kubeconfig.
	APIServers []string
	API        APILink
}

// APILink is the state of the connection to the API server.
type APILink struct {
	// AnsweredAt is when the last request started that the API server answered, zero if it has not
	// answered this process.
	AnsweredAt time.Time
	// UnreachableSince is zero while the API server answers.
	UnreachableSince time.Time
	Error            string
	// CurrentAt is when the copy was equal to the cluster: the API server answered while every part
	// was watched, or refused.
	CurrentAt time.Time
	// Current is true while that is so.
	Current bool
	// Listed is true once this process has listed every part.
	Listed bool
}

// Reachable is true while the API server answers.
func (l *APILink) Reachable() bool { return !l.AnsweredAt.IsZero() && l.UnreachableSince.IsZero() }

// Changes are the parts of a copy that have changed. Deleted objects are among the names.
type Changes struct {
	Operations map[string]bool
	Nodes      map[string]bool // also if the order to the node or its report has changed
	Releases   bool
	Leader     bool
	API        bool
}

func newChanges() Changes { return Changes{Operations: map[string]bool{}, Nodes: map[string]bool{}} }

func (c *Changes) none() bool {
	return len(c.Operations) == 0 && len(c.Nodes) == 0 && !c.Releases && !c.Leader && !c.API
}

// NewCopy returns an empty copy.
func NewCopy() Copy {
	return Copy{
		Operations: map[string]*refitv1alpha1.ClusterUpgrade{}, Orders: map[string]*refitv1alpha1.NodeUpgrade{},
		Reports: map[string]*refitv1alpha1.NodeReport{}, Nodes: map[string]NodeFacts{},
		Releases: map[string]cliv1alpha1.ListedRelease{}, Gaps: map[string]string{},
	}
}

// NewMirror returns a mirror that starts with a copy, such as the last known one of another
// process.
func NewMirror(c *Cluster, start Copy) *Mirror {
	if c.APIServers != nil {
		c.APIServers.set(start.APIServers)
	}
	m := &Mirror{Cluster: c, copy: start, changes: newChanges(), current: map[string]bool{}, wake: make(chan struct{}, 1)}
	for _, p := range parts {
		m.current[p.name] = false
	}
	return m
}

// FindAPIServers reads the addresses of the API servers.
func (m *Mirror) FindAPIServers(ctx context.Context) error {
	found, err := m.findAPIServers(ctx)
	if err != nil {
		return err
	}
	m.update(func(c *Copy, _ *Changes) { c.APIServers = found })
	return nil
}

// Read calls a function with the copy, which stays as it is until the function returns.
func (m *Mirror) Read(read func(*Copy)) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	read(&m.copy)
}

// update calls a function that modifies the copy and records what it changes.
func (m *Mirror) update(change func(*Copy, *Changes)) {
	m.mu.Lock()
	change(&m.copy, &m.changes)
	if api := &m.copy.API; api.Current != (m.allCurrent() && api.Reachable()) {
		api.Current, m.changes.API = !api.Current, true
	}
	pending := !m.changes.none()
	m.mu.Unlock()
	if pending {
		select {
		case m.wake <- struct{}{}:
		default:
		}
	}
}

// Run keeps the copy up to date until the context ends.
func (m *Mirror) Run(ctx context.Context) {
	var running sync.WaitGroup
	l := newLink(ctx, m.Cluster)
	for _, p := range parts {
		running.Go(func() { l.keep(ctx, m.copied(&p)) })
	}
	running.Go(func() { l.probe(ctx, m.readLease, m.probed) })
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-m.wake:
			m.report(ctx)
		}
	}
	running.Wait()
}

// report reports the changes of one batch.
func (m *Mirror) report(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-time.After(batchInterval):
	}
	m.mu.Lock()
	changes := m.changes
	m.changes = newChanges()
	m.mu.Unlock()
	if m.Changed != nil && !changes.none() {
		m.Changed(changes)
	}
}

// readLease is the read of the probe: it shows who leads the controllers, too.
func (m *Mirror) readLease(ctx context.Context) error {
	lease := &coordinationv1.Lease{}
	err := m.Client.Get(ctx, m.Controller, lease)
	if unanswered(ctx, err) != nil {
		return err
	}
	leader := ""
	if err == nil {
		leader = leaderOf(lease, m.Now())
	}
	m.update(func(c *Copy, changes *Changes) {
		changes.Leader = changes.Leader || c.Leader != leader
		c.Leader = leader
	})
	return nil
}

func (m *Mirror) probed(started time.Time, err error) {
	m.update(func(c *Copy, changes *Changes) {
		if err != nil {
			c.API.failed(started, err, changes)
			return
		}
		c.API.answered(started, changes)
		if m.allCurrent() {
			c.API.CurrentAt = started
		}
	})
}

// allCurrent reports whether every part is watched, or refused. The caller holds the lock.
func (m *Mirror) allCurrent() bool {
	for _, current := range m.current {
		if !current {
			return false
		}
	}
	return true
}

func (l *APILink) answered(started time.Time, changes *Changes) {
	if started.Before(l.AnsweredAt) || started.Before(l.UnreachableSince) {
		return
	}
	changes.API = changes.API || !l.Reachable()
	l.AnsweredAt, l.UnreachableSince, l.Error = started, time.Time{}, ""
}

// failed records a request without an answer. A later one may have been answered already.
func (l *APILink) failed(started time.Time, err error, changes *Changes) {
	if started.Before(l.AnsweredAt) {
		return
	}
	if l.UnreachableSince.IsZero() {
		l.UnreachableSince, changes.API = started, true
	}
	l.Error = err.Error()
}

// Sorted returns the operations, the oldest first.
func (c *Copy) Sorted() []refitv1alpha1.ClusterUpgrade {
	out := make([]refitv1alpha1.ClusterUpgrade, 0, len(c.Operations))
	for _, u := range c.Operations {
		out = append(out, *u)
	}
	slices.SortFunc(out, byAge)
	return out
}

// Clone returns a copy that does not change. It shares the objects.
func (c *Copy) Clone() Copy {
	return Copy{
		Operations: maps.Clone(c.Operations), Orders: maps.Clone(c.Orders), Reports: maps.Clone(c.Reports), Nodes: maps.Clone(c.Nodes),
		Releases: maps.Clone(c.Releases), Gaps: maps.Clone(c.Gaps),
		Leader: c.Leader, NotInstalled: c.NotInstalled, APIServers: slices.Clone(c.APIServers), API: c.API,
	}
}
