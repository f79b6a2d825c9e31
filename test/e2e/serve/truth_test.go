//go:build e2e

package serve

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

const (
	sampleInterval = 200 * time.Millisecond
	// answerTimeout is after what time an API server counts as unreachable, as for the server.
	answerTimeout = 2 * time.Second
)

// truth is what an independent observer knows of the API server and of the upgrade.
type truth struct {
	mu      sync.Mutex
	samples []sample
	down    chan struct{} // closed at the first outage
	ended   chan struct{}
	stop    context.CancelFunc
}

// sample is one request to the API server.
type sample struct {
	from, to time.Time
	answered bool
	phase    string // of the upgrade; empty if there is none, or no answer
}

// observe samples the API server until the test ends or stop is called.
func observe(t *testing.T, s *bed.Site) *truth {
	t.Helper()
	config, err := s.RESTConfig()
	bed.Must(t, err)
	config.QPS, config.Burst, config.Timeout = 100, 100, answerTimeout
	configs := []*rest.Config{config}
	// The load balancer of the endpoint notices an API server that is back later than the server,
	// which also connects to each of them directly.
	for _, n := range s.OfRole(cluster.RoleControlPlane) {
		direct := rest.CopyConfig(config)
		direct.Host = "https://" + apiServerOn(n)
		configs = append(configs, direct)
	}
	var clients []dynamic.Interface
	for _, c := range configs {
		client, err := dynamic.NewForConfig(c)
		bed.Must(t, err)
		clients = append(clients, client)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	o := &truth{down: make(chan struct{}), ended: make(chan struct{}), stop: cancel}
	go func() {
		defer close(o.ended)
		for ctx.Err() == nil {
			o.add(takeAny(ctx, clients))
			select {
			case <-ctx.Done():
			case <-time.After(sampleInterval):
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-o.ended })
	return o
}

// apiServerOn returns the address of the API server on a node.
func apiServerOn(n *cluster.Node) string { return net.JoinHostPort(n.Address().String(), "6443") }

// takeAny returns the sample of a client with an answer, if there is one.
func takeAny(ctx context.Context, clients []dynamic.Interface) sample {
	taken := make([]sample, len(clients))
	var all sync.WaitGroup
	for i, client := range clients {
		all.Go(func() { taken[i] = take(ctx, client) })
	}
	all.Wait()
	if i := slices.IndexFunc(taken, answered); i >= 0 {
		return taken[i]
	}
	return taken[0]
}

// isAnswer reports whether the API server has answered, which it may do with a refusal.
func isAnswer(err error) bool {
	status := apierrors.APIStatus(nil)
	return err == nil || errors.As(err, &status) && status.Status().Code < http.StatusInternalServerError
}

func take(ctx context.Context, client dynamic.Interface) sample {
	out := sample{from: time.Now()}
	list, err := client.Resource(refitv1alpha1.GroupVersion.WithResource("clusterupgrades")).List(ctx, metav1.ListOptions{})
	// A refusal is an answer: an API server that starts does not have its CRDs yet.
	out.to, out.answered = time.Now(), isAnswer(err)
	if err == nil {
		for _, u := range list.Items { // there is one at most
			out.phase, _, _ = unstructured.NestedString(u.Object, "status", "phase")
		}
	}
	return out
}

func (o *truth) add(s sample) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !s.answered && !slices.ContainsFunc(o.samples, func(s sample) bool { return !s.answered }) {
		close(o.down)
	}
	o.samples = append(o.samples, s)
}

// between returns the samples that overlap a time.
func (o *truth) between(from, to time.Time) []sample {
	o.mu.Lock()
	defer o.mu.Unlock()
	var out []sample
	for _, s := range o.samples {
		if s.to.After(from) && s.from.Before(to) {
			out = append(out, s)
		}
	}
	return out
}

// outages returns how long the API server did not answer, in all.
func (o *truth) outages() (total time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i, s := range o.samples {
		if i > 0 && !s.answered {
			total += s.to.Sub(o.samples[i-1].to)
		}
	}
	return total
}
