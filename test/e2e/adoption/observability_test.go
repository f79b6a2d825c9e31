//go:build e2e

package adoption

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
	"github.com/refit-dev/refit/test/testbed/versions"
)

const (
	dashboardFile = "../../../charts/refit/files/dashboard.json"
	observed      = "observed" // the ClusterUpgrade
	// scrapeInterval is short, because the states of a small cluster are.
	scrapeInterval = 2 * time.Second
)

// prometheusObjects let Prometheus find the controllers and read their metrics through the API
// servers: it runs outside the cluster.
const prometheusObjects = `{apiVersion: v1, kind: Namespace, metadata: {name: monitoring}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: prometheus, namespace: monitoring}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: prometheus, namespace: refit-system}, rules: [
	{apiGroups: [""], resources: [pods], verbs: [get, list, watch]}, {apiGroups: [""], resources: [pods/proxy], verbs: [get]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: prometheus, namespace: refit-system},
	roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: prometheus}, subjects: [{kind: ServiceAccount, name: prometheus, namespace: monitoring}]}`

const prometheusConfig = `global: {scrape_interval: %[1]s, scrape_timeout: %[1]s, evaluation_interval: %[1]s}
rule_files: ['%[2]s']
scrape_configs:
- job_name: refit-controller
  scheme: https
  authorization: &token {credentials_file: '%[3]s'}
  tls_config: &ca {ca_file: '%[4]s'}
  kubernetes_sd_configs: [{role: pod, api_server: '%[5]s', authorization: *token, tls_config: *ca, namespaces: {names: [refit-system]}}]
  relabel_configs:
  - {source_labels: [__meta_kubernetes_pod_container_port_name], regex: metrics, action: keep}
  - {source_labels: [__meta_kubernetes_namespace, __meta_kubernetes_pod_name], separator: /, regex: '(.+)/(.+)', target_label: __metrics_path__,
     replacement: '/api/v1/namespaces/$1/pods/$2:8080/proxy/metrics'}
  - {target_label: __address__, replacement: '%[6]s'}
  - {source_labels: [__meta_kubernetes_namespace], target_label: namespace}
  - {source_labels: [__meta_kubernetes_pod_name], target_label: pod}
`

// upgradeWithBudget is an upgrade whose first worker cannot be drained until the PDB is gone.
const upgradeWithBudget = `{apiVersion: refit.dev/v1alpha1, kind: ClusterUpgrade, metadata: {name: ` + observed + `}, spec: {target: {kubernetes: ` + bed.Newer + `},
	approval: None, pools: [{name: default, drain: {timeout: 15s}}],
	waivers: [{check: BudgetNeverAllows, object: PodDisruptionBudget default/held, reason: it is deleted during the upgrade}]}}`

var heldWorkload = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: held, namespace: default}, spec: {replicas: 2, selector: {matchLabels: {app: held}},
	template: {metadata: {labels: {app: held}}, spec: {terminationGracePeriodSeconds: 1,
		topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: held}}}],
		containers: [{name: main, image: "` + versions.BusyboxImage + `", imagePullPolicy: Never, command: [sleep, "36000"]}]}}}}
---
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: held, namespace: default}, spec: {maxUnavailable: 0, selector: {matchLabels: {app: held}}}}`

// TestAdoptionObservability upgrades a cluster while a Prometheus scrapes the controllers and a
// collector receives their traces. A PDB blocks a drain for a minute: every panel of the dashboard
// has data, and that is too short for any alert.
func TestAdoptionObservability(t *testing.T) {
	s := bed.NewSite(t, cluster.Spec{
		Name: "obs", ControlPlanes: bed.Count(t, "REFIT_OBSERVED_CONTROL_PLANES", 3), Workers: bed.Count(t, "REFIT_OBSERVED_WORKERS", 2), Kubernetes: bed.Older,
	}, false)
	collector := bed.StartCollector(t, s.Gateway().String())
	args := []string{"install", "--release-key", s.Key.Public, "--traces-endpoint", forward(t, s, collector.URL)}
	for _, source := range s.Sources {
		args = append(args, "--source", source)
	}
	s.RunRefit(t, args...)
	s.CreateRelease(t, bed.Newer)
	apply(t, s, heldWorkload)
	_, err := s.Kubectl(t.Context(), nil, "rollout", "status", "deployment/held", "--timeout=3m")
	bed.Must(t, err)
	prometheus := startPrometheus(t, s)

	begun := time.Now()
	apply(t, s, upgradeWithBudget)
	bed.Must(t, bed.Until(t.Context(), "the upgrade to start", bed.CheckTimeout, func(ctx context.Context) error {
		u, err := bed.Get[refitv1alpha1.ClusterUpgrade](ctx, s.Bed, bed.Operations, observed)
		if err == nil && u.Status.Phase != refitv1alpha1.PhaseRunning {
			err = fmt.Errorf("it is %s: %s", u.Status.Phase, u.Status.Message)
		}
		return err
	}))
	awaitData(t, prometheus, begun, `refit_stalled_since_timestamp_seconds`, `max by (reason) (refit_stuck_nodes) > 0`)
	_, err = s.Kubectl(t.Context(), nil, "delete", "poddisruptionbudget", "held")
	bed.Must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), bed.Whole)
	defer cancel()
	bed.Must(t, bed.Follow(ctx, s.Bed, bed.Operations, observed, func(u *refitv1alpha1.ClusterUpgrade) bool { return u.HasEnded() }))
	bed.Show(t, "observability_upgrade", time.Since(begun).Seconds(), "s")
	isAt(t, s)

	awaitData(t, prometheus, begun, `max(refit_operations{phase="Succeeded"}) > 0`)
	panelsHaveData(t, prometheus, begun)
	noAlertFired(t, prometheus, begun)
	operation, err := bed.Get[refitv1alpha1.ClusterUpgrade](t.Context(), s.Bed, bed.Operations, observed)
	bed.Must(t, err)
	traceIsWhole(t, s, collector, operation)
}

// forward lets pods reach a server of this machine through a worker, and returns its URL for them.
// This machine has no route to pods, whose addresses the testbed does not translate.
func forward(t *testing.T, s *bed.Site, url string) string {
	t.Helper()
	const port = "4318"
	n := s.First(cluster.RoleWorker)
	_, err := n.Exec(t.Context(), "systemd-run", "--unit=collector", "socat", "TCP-LISTEN:"+port+",fork,reuseaddr", "TCP:"+strings.TrimPrefix(url, "http://"))
	bed.Must(t, err)
	return "http://" + net.JoinHostPort(n.Address().String(), port)
}

func apply(t *testing.T, s *bed.Site, manifest string) {
	t.Helper()
	_, err := s.Kubectl(t.Context(), strings.NewReader(manifest), "apply", "--filename=-")
	bed.Must(t, err)
}

// startPrometheus starts Prometheus with the alerting rules and the token of its account.
func startPrometheus(t *testing.T, s *bed.Site) bed.PrometheusServer {
	t.Helper()
	apply(t, s, prometheusObjects)
	token, err := s.Kubectl(t.Context(), nil, "--namespace=monitoring", "create", "token", "prometheus", "--duration=3h")
	bed.Must(t, err)
	rest, err := s.RESTConfig()
	bed.Must(t, err)
	dir := t.TempDir()
	tokenFile, caFile := filepath.Join(dir, "token"), filepath.Join(dir, "ca.crt")
	bed.Must(t, errors.Join(os.WriteFile(tokenFile, token, 0o600), os.WriteFile(caFile, rest.CAData, 0o600)))
	rules, err := filepath.Abs(rulesFile)
	bed.Must(t, err)
	address := strings.TrimPrefix(rest.Host, "https://")
	return bed.StartPrometheus(t, fmt.Sprintf(prometheusConfig, scrapeInterval, rules, tokenFile, caFile, rest.Host, address))
}

// awaitData waits until each query has returned data since a time.
func awaitData(t *testing.T, prometheus bed.PrometheusServer, since time.Time, queries ...string) {
	t.Helper()
	for _, query := range queries {
		bed.Must(t, bed.Until(t.Context(), "data of "+query, bed.Whole/2, func(ctx context.Context) error {
			series, err := prometheus.QueryRange(ctx, query, since, scrapeInterval)
			if err == nil && len(series) == 0 {
				err = errors.New("there is no data")
			}
			return err
		}))
	}
}

// panelsHaveData fails for each query of the dashboard that has returned nothing since a time.
func panelsHaveData(t *testing.T, prometheus bed.PrometheusServer, since time.Time) {
	t.Helper()
	text, err := os.ReadFile(dashboardFile)
	bed.Must(t, err)
	var file struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	bed.Must(t, json.Unmarshal(text, &file))
	queries, withData := 0, 0
	for _, panel := range file.Panels {
		for _, target := range panel.Targets {
			queries++
			series, err := prometheus.QueryRange(t.Context(), target.Expr, since, scrapeInterval)
			if err != nil || len(series) == 0 {
				t.Errorf("panel %q has no data: %s (%v)", panel.Title, target.Expr, err)
				continue
			}
			withData++
			t.Logf("panel %q: %d series: %s", panel.Title, len(series), target.Expr)
		}
	}
	bed.Show(t, "observability_panels", float64(len(file.Panels)), "panels")
	bed.Show(t, "observability_queries", float64(queries), "queries")
	bed.Show(t, "observability_queries_with_data", float64(withData), "queries")
}

// noAlertFired fails if an alert fired since a time.
func noAlertFired(t *testing.T, prometheus bed.PrometheusServer, since time.Time) {
	t.Helper()
	loaded, err := prometheus.QueryRange(t.Context(), `prometheus_rule_group_rules`, since, scrapeInterval)
	bed.Must(t, err)
	fired, err := prometheus.QueryRange(t.Context(), `ALERTS{alertstate="firing"}`, since, scrapeInterval)
	bed.Must(t, err)
	for _, series := range fired {
		t.Errorf("%s fired: %v", series.Metric["alertname"], series.Metric)
	}
	pending, err := prometheus.QueryRange(t.Context(), `ALERTS{alertstate="pending"}`, since, scrapeInterval)
	bed.Must(t, err)
	names := map[string]bool{}
	for _, series := range pending {
		names[series.Metric["alertname"]] = true
	}
	// Pending ones show that the rules are evaluated.
	if !names["RefitUpgradeStalled"] || !names["RefitNodeStuck"] {
		t.Errorf("pending were only %v (%v)", slices.Sorted(maps.Keys(names)), loaded)
	}
	bed.Show(t, "observability_alerts_pending", float64(len(names)), "alerts")
	bed.Show(t, "observability_alerts_fired", float64(len(fired)), "alerts")
}

// traceIsWhole waits for the spans of each stage and each node, and checks all of them.
func traceIsWhole(t *testing.T, s *bed.Site, collector *bed.Collector, operation *refitv1alpha1.ClusterUpgrade) {
	t.Helper()
	stages, all := 0, len(s.Nodes())
	for _, stage := range operation.Status.Plan.Stages {
		if stage.StartTime != nil {
			stages++
		}
	}
	var got *received
	err := bed.Until(t.Context(), "the whole trace", time.Minute, func(context.Context) error {
		var err error
		if got, err = receive(collector); err != nil {
			return err
		}
		kinds, nodes := got.kinds, got.nodes
		if kinds["operation"] != 1 || kinds["stage"] != stages || nodes["prefetch"] != all || nodes["upgrade"] != all || nodes["back up"] != 1 || nodes["rehearse"] != 1 {
			return fmt.Errorf("%v, nodes %v; want 1 operation, %d stages and %d nodes", kinds, nodes, stages, all)
		}
		return nil
	})
	if got != nil {
		got.log(t)
		got.check(t, operation)
	}
	bed.Must(t, err)
	for _, kind := range []string{"operation", "stage", "node", "step"} {
		bed.Show(t, "observability_spans_"+kind, float64(got.kinds[kind]), "spans")
	}
	bed.Show(t, "observability_spans", float64(len(got.spans)), "spans")
	bed.Show(t, "observability_spans_repeated", float64(got.repeated), "spans")
}

// received are the spans of a trace.
type received struct {
	spans    map[string]bed.ReceivedSpan // by ID
	repeated int
	kinds    map[string]int
	nodes    map[string]int // by activity
}

// receive reads what the collector received. A span that was exported again must be the same.
func receive(collector *bed.Collector) (*received, error) {
	all, err := collector.Spans()
	if err != nil {
		return nil, err
	}
	r := &received{spans: map[string]bed.ReceivedSpan{}, kinds: map[string]int{}, nodes: map[string]int{}}
	for _, span := range all {
		if other, known := r.spans[span.SpanID]; known {
			r.repeated++
			if fmt.Sprint(other) != fmt.Sprint(span) {
				return nil, fmt.Errorf("two spans have one ID: %v and %v", other, span)
			}
			continue
		}
		r.spans[span.SpanID] = span
		kind := span.Attribute("refit.kind")
		r.kinds[kind]++
		if kind == "node" {
			r.nodes[strings.TrimSuffix(span.Name, " "+span.Attribute("k8s.node.name"))]++
		}
	}
	return r, nil
}

// check fails unless there is one trace with one root, each span has a parent of the right kind,
// and none failed.
func (r *received) check(t *testing.T, operation *refitv1alpha1.ClusterUpgrade) {
	t.Helper()
	parents := map[string]string{"operation": "", "stage": "operation", "node": "stage", "step": "node"}
	for _, span := range r.spans {
		kind := span.Attribute("refit.kind")
		parent, known := r.spans[span.Parent]
		if got := parent.Attribute("refit.kind"); got != parents[kind] || known == (kind == "operation") {
			t.Errorf("the parent of %s %q is %s %q", kind, span.Name, got, parent.Name)
		}
		if known && span.TraceID != parent.TraceID {
			t.Errorf("%q is in another trace than its parent", span.Name)
		}
		if span.Status.Code != 0 {
			t.Errorf("%s %q failed: %s", kind, span.Name, span.Status.Message)
		}
		if kind == "operation" && span.Attribute("refit.operation.uid") != string(operation.UID) {
			t.Errorf("the root is %v", span)
		}
	}
}

// log logs the trace, as docs/traces.md shows it.
func (r *received) log(t *testing.T) {
	t.Helper()
	var lines []string
	var add func(parent string, depth int)
	add = func(parent string, depth int) {
		for _, span := range slices.SortedFunc(maps.Values(r.spans), func(a, b bed.ReceivedSpan) int { return strings.Compare(a.Start+b.End, b.Start+a.End) }) {
			if span.Parent != parent {
				continue
			}
			lines = append(lines, fmt.Sprintf("%s %6.0f s  %s%s", at(span.Start).Format(time.TimeOnly), at(span.End).Sub(at(span.Start)).Seconds(), strings.Repeat("  ", depth), span.Name))
			add(span.SpanID, depth+1)
		}
	}
	add("", 0)
	t.Logf("the trace:\n%s", strings.Join(lines, "\n"))
}

// at parses a time of OTLP.
func at(nanoseconds string) time.Time {
	var n int64
	_, _ = fmt.Sscan(nanoseconds, &n) // zero is shown as such
	return time.Unix(0, n).UTC()
}
