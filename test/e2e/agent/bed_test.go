//go:build e2e

package agent

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/testbed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// bed is a cluster with Refit's definitions in it, an agent on every node, and a server from which the agents get the files of releases.
type bed struct {
	*cluster.Cluster
	programs

	client  kubernetes.Interface
	objects dynamic.Interface
	server  *server
	second  *server // the source that is asked after it
	// dir has the files of the releases.
	dir string
	// sources are what the agents are told to ask, in this order.
	sources  []string
	key      key
	releases map[string]*release
	// orders are the last ones by node, ordered is when they were given.
	orders  map[string]*refitv1alpha1.NodeUpgradeSpec
	ordered map[string]time.Time
	// patches is the directory with kubeadm patches on the hosts, if they have one.
	patches string
}

// newBed makes a cluster with agents that have crash points, which do nothing as long as nobody asks them to.
func newBed(t *testing.T, spec cluster.Spec) *bed {
	t.Helper()
	p := build(t)
	b := newBareBed(t, p, spec)
	b.installAgents(t, p.crashing)
	return b
}

// newBareBed makes a cluster with Refit's definitions, without agents.
func newBareBed(t *testing.T, p programs, spec cluster.Spec) *bed {
	t.Helper()
	b := &bed{
		Cluster: testbed.Up(t, spec), programs: p, key: newKey(t, p), dir: t.TempDir(),
		releases: map[string]*release{}, orders: map[string]*refitv1alpha1.NodeUpgradeSpec{}, ordered: map[string]time.Time{},
	}
	rest, err := b.RESTConfig()
	must(t, err)
	rest.QPS, rest.Burst = 100, 200
	b.client, err = kubernetes.NewForConfig(rest)
	must(t, err)
	b.objects, err = dynamic.NewForConfig(rest)
	must(t, err)
	b.server, b.second = serve(t, b.Endpoint()), serve(t, b.Endpoint())
	b.sources = []string{b.server.URL, b.second.URL}
	must(t, b.installDefinitions(t.Context()))
	t.Cleanup(func() { b.tellIfFailed(t) })
	return b
}

// installDefinitions brings what `refit install` will bring: definitions, rights and policies.
func (b *bed) installDefinitions(ctx context.Context) error {
	for _, folder := range []string{"crd", "rbac", "policy"} {
		files, err := filepath.Glob("../../../config/" + folder + "/*.yaml")
		if err == nil && len(files) == 0 {
			err = errors.New("there is nothing in config/" + folder)
		}
		if err != nil {
			return err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			if _, err := b.Kubectl(ctx, strings.NewReader(string(text)), "apply", "--server-side", "--filename=-"); err != nil {
				return err
			}
		}
	}
	_, err := b.Kubectl(ctx, nil, "wait", "--for=condition=Established", "customresourcedefinitions", "--all", "--timeout=60s")
	return err
}

// onNodes does something on several nodes at once.
func onNodes(t *testing.T, nodes []*cluster.Node, do func(context.Context, *cluster.Node) error) {
	t.Helper()
	group, ctx := errgroup.WithContext(t.Context())
	for _, n := range nodes {
		group.Go(func() error { return do(ctx, n) })
	}
	must(t, group.Wait())
}

// first is the first node of a role.
func (b *bed) first(role string) *cluster.Node { return b.OfRole(role)[0] }

// tellIfFailed logs what the agents said, and how far their orders are.
func (b *bed) tellIfFailed(t *testing.T) {
	t.Helper()
	if !t.Failed() || b.Gone() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	defer cancel()
	asking, stop := soon(ctx)
	defer stop()
	if out, err := b.Kubectl(asking, nil, "get", "nodeupgrades", "--output=yaml", "--request-timeout=4s"); err == nil {
		t.Logf("%s", out)
	}
	for _, n := range b.Nodes() {
		var said strings.Builder
		if err := n.Journal(ctx, &said, cluster.JournalOptions{Unit: agentUnit, Lines: 60}); err != nil {
			said.WriteString(err.Error())
		}
		t.Logf("the agent of %s said:\n%s", n.Name(), said.String())
	}
}
