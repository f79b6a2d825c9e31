package operations

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/progress"
)

// The pages of what may be large: an envelope has up to 256 KiB, and a Node lists its images.
const (
	releasesPerPage = 20
	nodesPerPage    = 200
)

// NodeFacts are the facts of a Node that a copy keeps.
type NodeFacts = progress.Node

const partUpgrades = "ClusterUpgrades"

// part is a kind of objects that a Mirror copies.
type part struct {
	name    string
	list    func() client.ObjectList
	perPage int64
	// put adds an object to a copy, without what nobody needs of it.
	put func(m *Mirror, c *Copy, object client.Object)
	// drop removes an object from a copy.
	drop func(c *Copy, name string)
	// take moves the objects of another copy into this one.
	take func(c, from *Copy)
	// changed records that an object has changed.
	changed func(changes *Changes, name string)
	// names are the objects in a copy.
	names func(c *Copy) []string
}

// parts is everything that a Mirror copies.
var parts = []part{
	{
		name: partUpgrades, list: func() client.ObjectList { return &refitv1alpha1.ClusterUpgradeList{} }, perPage: operationsPerPage,
		put: func(_ *Mirror, c *Copy, object client.Object) {
			if u, ok := object.(*refitv1alpha1.ClusterUpgrade); ok {
				c.Operations[u.Name] = slim(u)
			}
		},
		drop:    func(c *Copy, name string) { delete(c.Operations, name) },
		take:    func(c, from *Copy) { c.Operations = from.Operations },
		changed: func(changes *Changes, name string) { changes.Operations[name] = true },
		names:   func(c *Copy) []string { return keys(c.Operations) },
	},
	{
		name: "NodeUpgrades", list: func() client.ObjectList { return &refitv1alpha1.NodeUpgradeList{} }, perPage: ordersPerPage,
		put: func(_ *Mirror, c *Copy, object client.Object) {
			if order, ok := object.(*refitv1alpha1.NodeUpgrade); ok {
				c.Orders[order.Name] = slim(order)
			}
		},
		drop:    func(c *Copy, name string) { delete(c.Orders, name) },
		take:    func(c, from *Copy) { c.Orders = from.Orders },
		changed: changedNode,
		names:   func(c *Copy) []string { return keys(c.Orders) },
	},
	{
		name: "NodeReports", list: func() client.ObjectList { return &refitv1alpha1.NodeReportList{} }, perPage: ordersPerPage,
		put: func(_ *Mirror, c *Copy, object client.Object) {
			if report, ok := object.(*refitv1alpha1.NodeReport); ok {
				c.Reports[report.Name] = slimReport(report)
			}
		},
		drop:    func(c *Copy, name string) { delete(c.Reports, name) },
		take:    func(c, from *Copy) { c.Reports = from.Reports },
		changed: changedNode,
		names:   func(c *Copy) []string { return keys(c.Reports) },
	},
	{
		name: "Nodes", list: func() client.ObjectList { return &corev1.NodeList{} }, perPage: nodesPerPage,
		put: func(_ *Mirror, c *Copy, object client.Object) {
			if n, ok := object.(*corev1.Node); ok {
				c.Nodes[n.Name] = nodeOf(n)
			}
		},
		drop:    func(c *Copy, name string) { delete(c.Nodes, name) },
		take:    func(c, from *Copy) { c.Nodes = from.Nodes },
		changed: changedNode,
		names:   func(c *Copy) []string { return keys(c.Nodes) },
	},
	{
		name: "ClusterReleases", list: func() client.ObjectList { return &refitv1alpha1.ClusterReleaseList{} }, perPage: releasesPerPage,
		put: func(m *Mirror, c *Copy, object client.Object) {
			if r, ok := object.(*refitv1alpha1.ClusterRelease); ok {
				c.Releases[r.Name] = m.describe(r)
			}
		},
		drop:    func(c *Copy, name string) { delete(c.Releases, name) },
		take:    func(c, from *Copy) { c.Releases = from.Releases },
		changed: func(changes *Changes, _ string) { changes.Releases = true },
		names:   func(c *Copy) []string { return keys(c.Releases) },
	},
}

func changedNode(changes *Changes, name string) { changes.Nodes[name] = true }

func keys[T any](objects map[string]T) []string {
	out := make([]string, 0, len(objects))
	for name := range objects {
		out = append(out, name)
	}
	return out
}

// slim drops what nobody needs of an object. The managed fields are as large as the rest, and an
// annotation of kubectl repeats the whole object.
func slim[T client.Object](object T) T {
	object.SetManagedFields(nil)
	object.SetAnnotations(nil)
	return object
}

// slimReport keeps of a report who wrote it, and when, and whether an etcd member runs on the host.
func slimReport(report *refitv1alpha1.NodeReport) *refitv1alpha1.NodeReport {
	out := &refitv1alpha1.NodeReport{}
	out.Name = report.Name
	out.Status.BootID = report.Status.BootID
	if report.Status.Etcd != nil {
		out.Status.Etcd = &refitv1alpha1.EtcdFacts{}
	}
	out.Status.AgentVersion, out.Status.ObservedTime = report.Status.AgentVersion, report.Status.ObservedTime
	out.Status.ClockOffsetMilliseconds = report.Status.ClockOffsetMilliseconds
	return out
}

func (m *Mirror) describe(r *refitv1alpha1.ClusterRelease) cliv1alpha1.ListedRelease {
	if m.Describe == nil {
		return cliv1alpha1.ListedRelease{Name: r.Name, Kubernetes: r.Spec.Kubernetes, CreateTime: r.CreationTimestamp.UTC()}
	}
	return m.Describe(r)
}

// copied returns where a link reports the objects of a part.
func (m *Mirror) copied(p *part) *copied {
	var next Copy
	return &copied{
		list: p.list, perPage: p.perPage,
		begin: func() { next = NewCopy() },
		item:  func(object client.Object) { p.put(m, &next, object) },
		end: func(read time.Time) {
			from := next
			next = Copy{}
			m.update(func(c *Copy, changes *Changes) {
				for _, name := range append(p.names(c), p.names(&from)...) {
					p.changed(changes, name)
				}
				p.take(c, &from)
				p.found(c, changes, true)
				m.listed(c, changes, p.name, "", read)
			})
		},
		change: func(object client.Object, deleted bool) {
			m.update(func(c *Copy, changes *Changes) {
				if deleted {
					p.drop(c, object.GetName())
				} else {
					p.put(m, c, object)
				}
				p.changed(changes, object.GetName())
			})
		},
		failed: func(at time.Time, err error) {
			m.update(func(c *Copy, changes *Changes) {
				if unanswered(context.Background(), err) != nil {
					if m.servers() == 1 { // the probe tries the others first
						c.API.failed(at, err, changes)
					}
					return
				}
				p.found(c, changes, !apierrors.IsNotFound(err))
				m.listed(c, changes, p.name, err.Error(), at)
			})
		},
		stale: func() {
			m.update(func(*Copy, *Changes) { m.current[p.name] = false })
		},
	}
}

// found records whether the API server knows the kind of a part. The CRDs of Refit are installed
// together, so that one of them decides.
func (p *part) found(c *Copy, changes *Changes, found bool) {
	if p.name != partUpgrades {
		return
	}
	changes.API = changes.API || c.NotInstalled == found
	c.NotInstalled = !found
}

// listed records that the API server has answered the list of a part, or refused it. The caller
// holds the lock.
func (m *Mirror) listed(c *Copy, changes *Changes, name, refusal string, at time.Time) {
	m.current[name] = true
	changes.API = changes.API || c.Gaps[name] != refusal
	if delete(c.Gaps, name); refusal != "" {
		c.Gaps[name] = refusal
	}
	c.API.answered(at, changes)
	if m.allCurrent() {
		changes.API = changes.API || !c.API.Listed
		c.API.CurrentAt, c.API.Listed = at, true
	}
}
