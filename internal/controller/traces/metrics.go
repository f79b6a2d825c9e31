package traces

import (
	"errors"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
)

const exportErrorsName = "refit_trace_export_errors_total"

// The counters of this process. docs/metrics.md describes them.
var (
	spansTotal = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "refit_trace_spans_total", Help: "Spans that this controller exported or dropped since it started.",
	}, []string{"result"})
	exported, dropped = spansTotal.WithLabelValues("exported"), spansTotal.WithLabelValues("dropped")

	exportErrors = prometheus.NewCounter(prometheus.CounterOpts{
		Name: exportErrorsName, Help: "Exports of traces that failed since this controller started.",
	})
)

// registerMetrics registers once: the registry outlives the managers of a process.
var registerMetrics = sync.OnceValue(func() error {
	return errors.Join(ctrlmetrics.Registry.Register(spansTotal), ctrlmetrics.Registry.Register(exportErrors))
})
