package bed

import (
	"context"
	"testing"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/refit-dev/refit/test/testbed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// Bed is a cluster without Refit, the binaries and keys to install Refit, and servers that offer
// hosts the files of ClusterReleases.
type Bed struct {
	*cluster.Cluster
	Binaries

	Client  kubernetes.Interface
	Objects dynamic.Interface
	Server  *Server
	Second  *Server // the fallback source
	// Sources are the sources that the agents use, in this order.
	Sources []string
	Key     Key

	// Dir holds the files of the releases.
	Dir      string
	releases map[string]*Release
}

// New creates a cluster that is removed when the test ends.
func New(t *testing.T, spec cluster.Spec) *Bed {
	t.Helper()
	p := Build(t)
	b := &Bed{Cluster: testbed.Up(t, spec), Binaries: p, Key: NewKey(t, p), Dir: t.TempDir(), releases: map[string]*Release{}}
	rest, err := b.RESTConfig()
	Must(t, err)
	rest.QPS, rest.Burst = 100, 200
	b.Client, err = kubernetes.NewForConfig(rest)
	Must(t, err)
	b.Objects, err = dynamic.NewForConfig(rest)
	Must(t, err)
	b.Server, b.Second = serve(t, b.Gateway()), serve(t, b.Gateway())
	b.Sources = []string{b.Server.URL, b.Second.URL}
	return b
}

// First returns the first node of a role.
func (b *Bed) First(role string) *cluster.Node { return b.OfRole(role)[0] }

// OnNodes runs do on several nodes at once.
func OnNodes(t *testing.T, nodes []*cluster.Node, do func(context.Context, *cluster.Node) error) {
	t.Helper()
	group, ctx := errgroup.WithContext(t.Context())
	for _, n := range nodes {
		group.Go(func() error { return do(ctx, n) })
	}
	Must(t, group.Wait())
}
