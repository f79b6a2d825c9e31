package metrics

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Setup makes the metrics server count the objects in the cache of a manager.
func Setup(manager ctrl.Manager, _ controller.Options) error { return register(manager.GetCache()) }

// register makes the metrics server count the objects of a cache from now on. The registry outlives
// the managers of a process, so what a former manager registered reads the new cache.
func register(cache client.Reader) error {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	shared.cache = cache
	if err := ctrlmetrics.Registry.Register(shared); err != nil && !shared.registered {
		return fmt.Errorf("cannot register metrics: %w", err)
	}
	shared.registered = true
	return nil
}

var shared = newCollector()

// collector counts at each scrape.
type collector struct {
	descriptions []*prometheus.Desc // in the order of list

	mu         sync.Mutex
	cache      client.Reader
	registered bool
}

func newCollector() *collector {
	c := &collector{}
	for _, m := range list {
		var labels []string
		if m.label != "" {
			labels = []string{m.label}
		}
		c.descriptions = append(c.descriptions, prometheus.NewDesc(m.name, m.help, labels, nil))
	}
	return c
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range c.descriptions {
		to <- d
	}
}

// Collect implements prometheus.Collector. It reports nothing until the cache has synced: a zero
// would be wrong.
func (c *collector) Collect(to chan<- prometheus.Metric) {
	all, err := c.list()
	if err != nil {
		return
	}
	for i, m := range list {
		numbers := m.count(all)
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

// listTimeout is how long a scrape waits for a cache that has not synced.
const listTimeout = time.Second

func (c *collector) list() (*objects, error) {
	c.mu.Lock()
	cache := c.cache
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), listTimeout)
	defer cancel()
	var operations refitv1alpha1.ClusterUpgradeList
	var nodes refitv1alpha1.NodeUpgradeList
	for _, list := range []client.ObjectList{&operations, &nodes} {
		if err := cache.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			return nil, err
		}
	}
	return &objects{operations.Items, nodes.Items}, nil
}

// buckets are seconds. A step takes between nothing and its timeout of an hour.
var buckets = []float64{1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600}

func (c *collector) metric(i int, n number) prometheus.Metric {
	var labels []string
	if list[i].label != "" {
		labels = []string{n.label}
	}
	if n.durations == nil {
		return prometheus.MustNewConstMetric(c.descriptions[i], prometheus.GaugeValue, n.value, labels...)
	}
	sum, counts := 0.0, map[float64]uint64{}
	for _, bucket := range buckets {
		counts[bucket] = 0
		for _, spent := range n.durations {
			if spent <= bucket {
				counts[bucket]++
			}
		}
	}
	for _, spent := range n.durations {
		sum += spent
	}
	return prometheus.MustNewConstHistogram(c.descriptions[i], uint64(len(n.durations)), sum, counts, labels...)
}
