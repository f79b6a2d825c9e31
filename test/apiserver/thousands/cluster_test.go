//go:build apiserver

package thousands

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
	"github.com/refit-dev/refit/test/apiserver"
	"github.com/refit-dev/refit/test/apiserver/agents"
)

const (
	from, to = "v1.35.4", "v1.36.3"

	controlPlanes = 3
	podsPerWorker = 2  // of Deployments, beside kube-proxy
	replicas      = 20 // of each Deployment, at most
	mayBeAway     = 10 // of those

	// Every tenth worker is in a pool of its own with a lower maxUnavailable.
	labelPool            = "pool"
	defaultPool, fewPool = "default", "few"
	fewEach              = 10
)

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// bed is a cluster of simulated hosts.
type bed struct {
	*apiserver.Server
	t      *testing.T
	client client.Client
	hosts  *agents.Agents
}

// newBed creates a cluster and waits until every host has reported.
func newBed(t *testing.T, nodes int, hosts agents.Options) *bed {
	t.Helper()
	b := &bed{Server: apiserver.Start(t, apiserver.Options{EtcdQuota: 8 << 30}), t: t}
	var err error
	b.client, err = client.New(b.RESTConfig(), client.Options{Scheme: scheme(t)})
	must(t, err)
	// Without its DaemonSet: nothing here simulates the pods of a trial.
	must(t, b.client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "refit-agent"}}))
	for _, folder := range []string{"crd", "controller", "policy", "rbac"} {
		b.Install(t, "../../../config/"+folder)
	}
	must(t, agents.Load(t.Context(), b.RESTConfig(), shop(nodes), to))
	b.hosts, err = agents.New(b.RESTConfig(), hosts)
	must(t, err)
	b.beside(func(ctx context.Context) { _ = b.hosts.Run(ctx) }) // stops with the test
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	must(t, b.hosts.Reported(ctx))
	return b
}

// shop returns a cluster whose workers run Deployments with budgets, each in a namespace of its
// own. The budgets are checked but block no drain: the pods of one Deployment are on nodes that are
// far apart.
func shop(nodes int) *cluster.Snapshot {
	s := clustertest.HA(from, controlPlanes, nodes-controlPlanes)
	workers := s.Workers()
	for i, n := range workers {
		n.Labels[labelPool] = defaultPool
		if i%fewEach == 0 {
			n.Labels[labelPool] = fewPool
		}
	}
	pods := podsPerWorker * len(workers)
	apps := (pods + replicas - 1) / replicas
	places := make([]map[string]int32, apps)
	for i := range pods {
		app := i % apps
		if places[app] == nil {
			places[app] = map[string]int32{}
		}
		places[app][workers[i%len(workers)].Name]++
	}
	for app, on := range places {
		name := fmt.Sprintf("app-%03d", app)
		clustertest.Pods(cluster.Workload{
			Namespace: name, Kind: "Deployment", Name: name, Request: cluster.Resources{MilliCPU: 100, Memory: 128 << 20}, GraceSeconds: 30,
		}, on)(s)
		clustertest.Budget(name, name, mayBeAway, name)(s)
	}
	return s
}

func scheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	must(t, clientgoscheme.AddToScheme(s))
	must(t, refitv1alpha1.AddToScheme(s))
	return s
}

// beside runs a function until the test ends.
func (b *bed) beside(run func(context.Context)) {
	ctx, cancel := context.WithCancel(b.t.Context())
	var running sync.WaitGroup
	running.Go(func() { run(ctx) })
	b.t.Cleanup(func() {
		cancel()
		running.Wait()
	})
}

// asController returns the configuration of the controller's own account, with the permissions of
// an installed one.
func (b *bed) asController() *rest.Config {
	return b.hosts.Trusting(b.As(b.t, "system:serviceaccount:refit-system:refit-controller", "system:serviceaccounts", "system:serviceaccounts:refit-system"))
}
