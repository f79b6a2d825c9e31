//go:build e2e

package check

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/refit-dev/refit/test/testbed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// Namespaces of the defects. They are never deleted: deleting a namespace takes longer than
// deleting its objects.
const (
	shop    = "shop"    // has workloads
	guarded = "guarded" // the only one that the defects' webhooks match, so that they break nothing else
)

// bed is a cluster to inject defects into, with the binary that must find them.
type bed struct {
	*cluster.Cluster

	refit   *refit
	client  kubernetes.Interface
	objects dynamic.Interface
	configs map[string]*config
	hosts   map[string]*host
}

// newBed creates a cluster with the testbed's workload, Refit's CRDs, a BackupStore, and a
// ClusterRelease for every hop.
func newBed(t *testing.T, spec cluster.Spec) *bed {
	t.Helper()
	c := testbed.Up(t, spec)
	b := &bed{Cluster: c, refit: buildRefit(t, c.KubeconfigFile()), configs: map[string]*config{}, hosts: map[string]*host{}}
	rest, err := c.RESTConfig()
	must(t, err)
	rest.QPS, rest.Burst = 100, 200
	b.client, err = kubernetes.NewForConfig(rest)
	must(t, err)
	b.objects, err = dynamic.NewForConfig(rest)
	must(t, err)

	must(t, c.DeployWorkload(t.Context()))
	must(t, b.install(t.Context()))
	must(t, b.apply(t.Context(), namespaces))
	must(t, b.apply(t.Context(), store))
	for _, version := range []string{newer, newest} {
		must(t, b.apply(t.Context(), release("kubernetes-"+version, version, version)))
	}
	return b
}

const namespaces = `
{apiVersion: v1, kind: Namespace, metadata: {name: ` + shop + `}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: ` + guarded + `}}
`

// store is the BackupStore that an upgrade needs, elsewhere than on the only control plane host.
const store = `
{apiVersion: refit.dev/v1alpha1, kind: BackupStore, metadata: {name: local}, spec: {
  s3: {endpoint: "https://s3.example.com", bucket: backups}, credentials: offsite,
  recipients: [age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p]}}
`

// install applies Refit's CRDs, as `refit install` does.
func (b *bed) install(ctx context.Context) error {
	files, err := filepath.Glob("../../../config/crd/*.yaml")
	if err == nil && len(files) == 0 {
		err = errors.New("there are no definitions in config/crd")
	}
	for _, file := range files {
		text, readErr := os.ReadFile(file)
		if readErr == nil {
			_, readErr = b.Kubectl(ctx, strings.NewReader(string(text)), "apply", "--server-side", "--filename=-")
		}
		err = errors.Join(err, readErr)
	}
	if err != nil {
		return err
	}
	_, err = b.Kubectl(ctx, nil, "wait", "--for=condition=Established", "customresourcedefinitions", "--all", "--timeout=60s")
	return err
}

// apply writes objects. After a fault it may take a moment until they are accepted.
func (b *bed) apply(ctx context.Context, manifest string) error {
	var invalid error
	err := until(ctx, "objects to be accepted", func(ctx context.Context) error {
		_, err := b.Kubectl(ctx, strings.NewReader(manifest), "apply", "--filename=-")
		if err != nil && strings.Contains(err.Error(), " is invalid: ") { // permanent
			invalid, err = err, nil
		}
		return err
	})
	return errors.Join(err, invalid)
}

// remove deletes objects and waits until they are gone.
func (b *bed) remove(ctx context.Context, manifest string) error {
	_, err := b.Kubectl(ctx, strings.NewReader(manifest), "delete", "--ignore-not-found", "--timeout=2m", "--filename=-")
	return err
}

// objects returns a fault that consists of objects.
func objects(manifest ...string) fault {
	text := strings.Join(manifest, "\n---\n")
	return fault{
		seed:    func(ctx context.Context, b *bed) error { return b.apply(ctx, text) },
		restore: func(ctx context.Context, b *bed) error { return b.remove(ctx, text) },
	}
}

// kubectl returns a fault that consists of two commands.
func kubectl(seed, restore []string) fault {
	run := func(args []string) func(context.Context, *bed) error {
		return func(ctx context.Context, b *bed) error {
			_, err := b.Kubectl(ctx, nil, args...)
			return err
		}
	}
	return fault{seed: run(seed), restore: run(restore)}
}

// mustNode finds a node by its name without the cluster's prefix.
func (b *bed) mustNode(name string) *cluster.Node {
	n, err := b.Node(name)
	if err != nil {
		panic(fmt.Sprintf("a defect names a node that the cluster does not have: %v", err))
	}
	return n
}
