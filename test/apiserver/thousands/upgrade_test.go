//go:build apiserver

package thousands

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/apiserver/agents"
	"github.com/refit-dev/refit/test/testbed/figure"
)

func TestMain(m *testing.M) {
	ctrllog.SetLogger(logr.Discard()) // the logs of the simulated hosts' watches
	os.Exit(m.Run())
}

// mostRequests is the limit of the controller's requests per node of a small cluster. The number
// grows slightly with the duration of a run: the cluster is read every few seconds.
const mostRequests = 80

func TestAHundredNodes(t *testing.T) {
	cost := run{nodes: 100, atOnce: 10, fewAtOnce: 1}.measure(t)
	if cost.requests > mostRequests {
		t.Errorf("the controller made %.0f requests for each node, there may be %d", cost.requests, mostRequests)
	}
}

// Limits for a cluster of five thousand nodes.
const (
	mostReaction = time.Second
	mostMemory   = 200 // MiB
)

func TestThousands(t *testing.T) {
	nodes, err := strconv.Atoi(os.Getenv("REFIT_NODES"))
	if err != nil {
		t.Skip("it takes long: set REFIT_NODES to a number, or run make e2e-upgrade-5000")
	}
	// A worker is unavailable for about a minute, like a real one whose pods terminate slowly.
	// Faster hosts would only measure how many requests the API server of this machine can serve.
	hosts := agents.Options{Fetch: 2 * time.Second, Step: 4 * time.Second, End: 15 * time.Second}
	cost := run{nodes: nodes, atOnce: 100, fewAtOnce: 10, hosts: hosts}.measure(t)
	if cost.reaction > mostReaction {
		t.Errorf("99 of 100 slots are used again within %s, wanted are %s", cost.reaction, mostReaction)
	}
	if cost.memory > mostMemory {
		t.Errorf("the controller took %.0f MiB, wanted are %d", cost.memory, mostMemory)
	}
}

type run struct {
	nodes             int
	atOnce, fewAtOnce int // maxUnavailable of most nodes, and of the pool few
	hosts             agents.Options
}

// cost holds the measurements that have limits.
type cost struct {
	reaction time.Duration // p99 of most nodes
	requests float64       // requests/node of the controller
	memory   float64       // MiB
}

// measure upgrades a cluster and prints its performance.
func (r run) measure(t *testing.T) cost {
	t.Helper()
	begun := time.Now()
	b := newBed(t, r.nodes, r.hosts)
	r.print(t, "load", time.Since(begun).Seconds(), "s")
	w, p, etcd := b.watches(), b.runController(), b.EtcdWritten(t)
	begun = time.Now()
	b.upgrade(r)
	b.atRest()

	r.print(t, "took", time.Since(begun).Seconds(), "s")
	out := cost{requests: p.requests() / float64(r.nodes), memory: p.memory()}
	out.reaction = r.printReactions(t, "", w.reactions(defaultPool, r.atOnce))
	r.printReactions(t, "few_", w.reactions(fewPool, r.fewAtOnce))
	r.print(t, "requests_per_node", out.requests, "requests")
	r.print(t, "etcd_written_per_node", float64(b.EtcdWritten(t)-etcd)/float64(r.nodes)/1024, "KiB")
	sums := w.sums()
	for _, kind := range slices.Sorted(maps.Keys(sums)) {
		r.print(t, kind+"_writes_per_node", float64(sums[kind].writes)/float64(r.nodes), "writes")
		r.print(t, kind+"_written_per_node", float64(sums[kind].bytes)/float64(r.nodes)/1024, "KiB")
	}
	r.print(t, "memory", out.memory, "MiB")
	r.print(t, "cpu", p.processor().Seconds(), "s")
	return out
}

// printReactions prints the quantiles of all reactions, and of each of their parts. It returns the
// p99.
func (r run) printReactions(t *testing.T, pool string, all []reaction) time.Duration {
	t.Helper()
	if len(all) == 0 {
		t.Fatal("no slot was used again")
	}
	for _, part := range []struct {
		name string
		took func(reaction) time.Duration
	}{
		{"reaction", reaction.whole},
		{"reaction_claim", func(r reaction) time.Duration { return r.claim }},
		{"reaction_begin", func(r reaction) time.Duration { return r.begin }},
		{"reaction_permit", func(r reaction) time.Duration { return r.permit }},
	} {
		r.print(t, pool+part.name+"_p50", below(all, 0.5, part.took).Seconds(), "s")
		r.print(t, pool+part.name+"_p99", below(all, 0.99, part.took).Seconds(), "s")
	}
	return below(all, 0.99, reaction.whole)
}

func (r run) print(t *testing.T, what string, value float64, unit string) {
	t.Helper()
	must(t, figure.Print(fmt.Sprintf("upgrade_%d_%s", r.nodes, what), value, unit))
}

// upgrade creates an upgrade and waits until it has succeeded.
func (b *bed) upgrade(r run) {
	b.t.Helper()
	most, few := intstr.FromInt(r.atOnce), intstr.FromInt(r.fewAtOnce)
	operation := &refitv1alpha1.ClusterUpgrade{
		ObjectMeta: metav1.ObjectMeta{Name: "upgrade"},
		Spec: refitv1alpha1.ClusterUpgradeSpec{
			Target: refitv1alpha1.Target{Kubernetes: to}, Approval: refitv1alpha1.ApprovalNone,
			Waivers: []refitv1alpha1.Waiver{{Check: "BackupProven", Reason: "the hosts are simulated"}},
			Pools: []refitv1alpha1.Pool{
				{Name: fewPool, NodeSelector: refitv1alpha1.Labels{labelPool: fewPool}, MaxUnavailable: &few}, {Name: defaultPool, MaxUnavailable: &most},
			},
		},
	}
	must(b.t, b.client.Create(b.t.Context(), operation))
	const told, checkTimeout = 30 * time.Second, 10 * time.Minute // the latter without any progress
	said, moved, done := time.Now(), time.Now(), int32(0)
	for operation.Status.Phase != refitv1alpha1.PhaseSucceeded {
		must(b.t, b.client.Get(b.t.Context(), types.NamespacedName{Name: operation.Name}, operation))
		status := &operation.Status
		if status.Nodes.Done != done {
			done, moved = status.Nodes.Done, time.Now()
		}
		if status.Phase == refitv1alpha1.PhaseStalled || time.Since(moved) > checkTimeout {
			b.t.Fatalf("%s: %s, %+v", status.Phase, status.Message, status.Nodes)
		}
		if time.Since(said) > told {
			said = time.Now()
			b.t.Logf("%d of %d done: %s", done, status.Nodes.Total, status.Message)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// atRest requires that every node is at its version and schedulable.
func (b *bed) atRest() {
	b.t.Helper()
	var nodes corev1.NodeList
	must(b.t, b.client.List(b.t.Context(), &nodes))
	for i := range nodes.Items {
		if n := &nodes.Items[i]; n.Status.NodeInfo.KubeletVersion != to || n.Spec.Unschedulable {
			b.t.Errorf("%s is at %s; cordoned: %t", n.Name, n.Status.NodeInfo.KubeletVersion, n.Spec.Unschedulable)
		}
	}
}
