package metrics

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Register lets the metrics server tell of what a cache has, from now on. The registry outlives the controllers, which may begin anew in one process: what was
// registered by a life before reads the new cache.
func Register(watched client.Reader) error {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	shared.watched = watched
	for _, c := range []prometheus.Collector{shared, evictionsRefused} {
		if err := ctrlmetrics.Registry.Register(c); err != nil && !shared.registered {
			return fmt.Errorf("registering metrics: %w", err)
		}
	}
	shared.registered = true
	return nil
}

var shared = newCollector()

// collector counts when it is asked.
type collector struct {
	described []*prometheus.Desc // as in list

	mu         sync.Mutex
	watched    client.Reader
	registered bool
}

func newCollector() *collector {
	c := &collector{}
	for _, m := range list {
		var labels []string
		if m.label != "" {
			labels = []string{m.label}
		}
		c.described = append(c.described, prometheus.NewDesc(m.name, m.help, labels, nil))
	}
	return c
}

// Describe is of prometheus.Collector.
func (c *collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range c.described {
		to <- d
	}
}

// Collect is of prometheus.Collector. While nothing is known, as before the first look at the cluster, it tells nothing: a zero would be a lie.
func (c *collector) Collect(to chan<- prometheus.Metric) {
	seen, err := c.list()
	if err != nil {
		return
	}
	for i, m := range list {
		numbers := m.count(seen)
		for _, n := range numbers {
			to <- c.metric(i, n)
		}
		for _, value := range m.values {
			if !slices.ContainsFunc(numbers, func(n number) bool { return n.label == value }) {
				to <- c.metric(i, number{label: value})
			}
		}
	}
}

// listTimeout is how long somebody who asks waits for a cache that has nothing yet.
const listTimeout = time.Second

func (c *collector) list() (*objects, error) {
	c.mu.Lock()
	watched := c.watched
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), listTimeout)
	defer cancel()
	var operations refitv1alpha1.ClusterUpgradeList
	var nodes refitv1alpha1.NodeUpgradeList
	for _, list := range []client.ObjectList{&operations, &nodes} {
		if err := watched.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			return nil, err
		}
	}
	return &objects{operations.Items, nodes.Items}, nil
}

// buckets are seconds: a step takes from nothing to its limit of an hour.
var buckets = []float64{1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600}

func (c *collector) metric(i int, n number) prometheus.Metric {
	var labels []string
	if list[i].label != "" {
		labels = []string{n.label}
	}
	if n.spent == nil {
		return prometheus.MustNewConstMetric(c.described[i], prometheus.GaugeValue, n.value, labels...)
	}
	sum, counts := 0.0, map[float64]uint64{}
	for _, bucket := range buckets {
		counts[bucket] = 0
		for _, spent := range n.spent {
			if spent <= bucket {
				counts[bucket]++
			}
		}
	}
	for _, spent := range n.spent {
		sum += spent
	}
	return prometheus.MustNewConstHistogram(c.described[i], uint64(len(n.spent)), sum, counts, labels...)
}
