package server

import (
	"encoding/json"
	"hash/maphash"
	"slices"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/operations"
	"github.com/refit-dev/refit/internal/server/api"
	"github.com/refit-dev/refit/internal/server/stream"
)

// The types of events.
const (
	eventHello     = "hello"
	eventState     = "state"
	eventOperation = "operation"
	eventNodes     = "nodes"
	eventAPI       = "api"
	eventHeartbeat = "heartbeat"
)

// mostRows is the maximum number of rows in one event. More changes are several events.
const mostRows = 500

// publisher publishes what has changed in the copy. It has one caller at a time.
type publisher struct {
	documents *documents
	ring      *stream.Ring
	seed      maphash.Seed

	state  uint64            // of the last state, without times
	link   uint64            // of the last connection
	ops    map[string]uint64 // of the progress of the operations, without times
	rows   map[string]uint64 // of the rows of the nodes
	about  string            // the operation that the rows are about
	active []string          // its active nodes
	plan   string            // what else of it all rows depend on
}

func newPublisher(d *documents, ring *stream.Ring) *publisher {
	return &publisher{documents: d, ring: ring, seed: maphash.MakeSeed(), ops: map[string]uint64{}, rows: map[string]uint64{}}
}

// publish publishes one batch of changes.
func (p *publisher) publish(c *operations.Copy, changes operations.Changes) error {
	if c.API.CurrentAt.IsZero() {
		return p.publishAPI(c) // nothing else is there yet
	}
	for _, publish := range []func() error{
		func() error { return p.publishAPI(c) },
		func() error { return p.publishState(c) },
		func() error { return p.publishOperations(c, changes) },
		func() error { return p.publishNodes(c, changes) },
	} {
		if err := publish(); err != nil {
			return err
		}
	}
	return nil
}

func (p *publisher) send(kind string, document any) error {
	data, err := json.Marshal(document)
	if err != nil {
		return err
	}
	p.ring.Publish(kind, data)
	return nil
}

// hash identifies a document.
func (p *publisher) hash(document any) (uint64, error) {
	data, err := json.Marshal(document)
	return maphash.Bytes(p.seed, data), err
}

// publishAPI publishes that the API server became reachable or unreachable, and changes of the
// reason for that.
func (p *publisher) publishAPI(c *operations.Copy) error {
	link := p.documents.apiServer(c)
	lasting := link
	lasting.AnsweredAt, lasting.Outage.ObservedAt = time.Time{}, time.Time{}
	hash, err := p.hash(lasting)
	if err != nil || hash == p.link {
		return err
	}
	p.link = hash
	return p.send(eventAPI, &link)
}

func (p *publisher) publishState(c *operations.Copy) error {
	state := p.documents.state(c)
	hash, err := p.hash(withoutTime(*state))
	if err != nil || hash == p.state {
		return err
	}
	p.state = hash
	return p.send(eventState, state)
}

// publishOperations publishes the progress of operations that have changed, and of the active one
// if an order has: its progress depends on them.
func (p *publisher) publishOperations(c *operations.Copy, changes operations.Changes) error {
	names := map[string]bool{}
	for name := range changes.Operations {
		names[name] = true
	}
	if u := operations.ActiveOrLast(c.Sorted()); u != nil && len(changes.Nodes) > 0 {
		names[u.Name] = true
	}
	for name := range names {
		u := c.Operations[name]
		if u == nil {
			delete(p.ops, name) // the state shows that it was deleted
			continue
		}
		if err := p.publishOperation(c, u); err != nil {
			return err
		}
	}
	return nil
}

// publishOperation publishes the progress of an operation, unless only time has passed.
func (p *publisher) publishOperation(c *operations.Copy, u *refitv1alpha1.ClusterUpgrade) error {
	out := p.documents.answer(c, u)
	lasting := api.OperationAnswer{Operation: out.Operation, Spec: out.Spec}
	lasting.Operation.LeftSeconds = 0
	hash, err := p.hash(lasting)
	if err != nil || hash == p.ops[u.Name] {
		return err
	}
	p.ops[u.Name] = hash
	return p.send(eventOperation, &out)
}

// publishNodes publishes the rows that have changed.
func (p *publisher) publishNodes(c *operations.Copy, changes operations.Changes) error {
	u := operations.ActiveOrLast(c.Sorted())
	changed, removed, err := p.changedRows(c, u, p.affected(c, u, changes))
	if err != nil {
		return err
	}
	for len(changed) > 0 || len(removed) > 0 {
		rows := changed[:min(len(changed), mostRows)]
		changed = changed[len(rows):]
		out := api.NodeChanges{Operation: operationName(u), Changed: rows, Removed: removed}
		out.Source, out.ObservedAt = observed(c)
		removed = []string{}
		if err := p.send(eventNodes, &out); err != nil {
			return err
		}
	}
	return nil
}

// affected returns the nodes whose rows may have changed: those that have changed, those that
// became active or are no longer, or all if another part of the operation has changed.
func (p *publisher) affected(c *operations.Copy, u *refitv1alpha1.ClusterUpgrade, changes operations.Changes) []string {
	names := changes.Nodes
	about, plan, active := operationName(u), "", []string(nil)
	if u != nil {
		active = u.Status.Active
		plan = planOf(u)
	}
	if about != p.about || plan != p.plan {
		names = map[string]bool{}
		for name := range c.Nodes {
			names[name] = true
		}
		for name := range p.rows {
			names[name] = true
		}
	}
	out := make([]string, 0, len(names))
	for name := range names {
		out = append(out, name)
	}
	for _, node := range slices.Concat(p.active, active) {
		if slices.Contains(p.active, node) != slices.Contains(active, node) && !names[node] {
			out = append(out, node)
		}
	}
	p.about, p.plan, p.active = about, plan, slices.Clone(active)
	slices.Sort(out)
	return slices.Compact(out)
}

// planOf is everything of an operation that the rows of all nodes depend on.
func planOf(u *refitv1alpha1.ClusterUpgrade) string {
	data, _ := json.Marshal([]any{u.UID, u.Generation, u.Status.Phase, u.Status.Plan != nil, u.Status.Waiting}) // cannot fail
	if u.Status.Plan != nil {
		data = append(data, u.Status.Plan.Hash+u.Status.Plan.To...)
	}
	return string(data)
}

// changedRows returns the rows that differ from the ones that were published.
func (p *publisher) changedRows(
	c *operations.Copy, u *refitv1alpha1.ClusterUpgrade, names []string,
) (changed []cliv1alpha1.NodeRow, removed []string, err error) {
	changed, removed = []cliv1alpha1.NodeRow{}, []string{}
	for _, name := range names {
		if _, exists := c.Nodes[name]; !exists {
			if _, published := p.rows[name]; published {
				delete(p.rows, name)
				removed = append(removed, name)
			}
			continue
		}
		row := p.documents.row(c, name, u)
		hash, err := p.hash(row)
		if err != nil {
			return nil, nil, err
		}
		if p.rows[name] != hash {
			p.rows[name] = hash
			changed = append(changed, row)
		}
	}
	return changed, removed, nil
}
