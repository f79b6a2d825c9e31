package nodeupgrade

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
)

// evictionsRefused is a counter of this process, since no object holds the number.
var evictionsRefused = prometheus.NewCounter(prometheus.CounterOpts{
	Name: "refit_evictions_refused_total", Help: "Evictions that a PodDisruptionBudget or the API server refused since this controller started.",
})

// registerMetrics registers once: the registry outlives the managers of a process.
var registerMetrics = sync.OnceValue(func() error { return ctrlmetrics.Registry.Register(evictionsRefused) })

func countRefusedEvictions(more int64) { evictionsRefused.Add(float64(more)) }
