package metrics

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/yaml"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// stored is a cache that holds objects, or fails.
type stored struct {
	objects

	err error
}

func (s *stored) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errors.New("metrics only list")
}

func (s *stored) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	switch l := list.(type) {
	case *refitv1alpha1.ClusterUpgradeList:
		l.Items = s.operations
	case *refitv1alpha1.NodeUpgradeList:
		l.Items = s.nodes
	}
	return s.err
}

func at(seconds int64) *metav1.Time {
	t := metav1.NewTime(time.Unix(seconds, 0))
	return &t
}

func operation(phase refitv1alpha1.Phase, reason string, waitingSince int64, conditions ...metav1.Condition) refitv1alpha1.ClusterUpgrade {
	conditions = append(conditions, metav1.Condition{Type: refitv1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: reason})
	return refitv1alpha1.ClusterUpgrade{Status: refitv1alpha1.ClusterUpgradeStatus{Phase: phase, Waiting: []refitv1alpha1.WaitingFor{{Since: at(waitingSince)}}, Conditions: conditions}}
}

type (
	drain = refitv1alpha1.DrainStatus
	step  = refitv1alpha1.StepStatus
)

func node(permit refitv1alpha1.Permit, phase refitv1alpha1.NodePhase, drain *drain, steps ...step) refitv1alpha1.NodeUpgrade {
	u := refitv1alpha1.NodeUpgrade{Status: refitv1alpha1.NodeUpgradeStatus{Phase: phase, Drain: drain, Steps: steps}}
	u.Spec.Permit, u.Spec.Sequence = permit, 3
	return u
}

func someObjects() *stored {
	stalled := metav1.Condition{Type: refitv1alpha1.ConditionStalled, Status: metav1.ConditionTrue, LastTransitionTime: *at(1000)}
	drained := &drain{Sequence: 2, Phase: refitv1alpha1.DrainDrained, StartTime: at(900), CompletionTime: at(940)}
	done := operation(refitv1alpha1.PhaseSucceeded, refitv1alpha1.ReasonSucceeded, 9000)
	done.Status.Conditions[0].Status = metav1.ConditionTrue
	running := operation(refitv1alpha1.PhaseRunning, refitv1alpha1.ReasonProgressing, 700)
	running.Status.Waiting = append(running.Status.Waiting,
		refitv1alpha1.WaitingFor{Reason: refitv1alpha1.ReasonNodeUnavailable, Node: "worker-1", ActionRequired: true, MoreNodes: 2},
		refitv1alpha1.WaitingFor{Reason: refitv1alpha1.ReasonDrainBlocked, Node: "worker-2", ActionRequired: true},
		refitv1alpha1.WaitingFor{Reason: refitv1alpha1.ReasonDrainBlocked, Node: "worker-3"})
	return &stored{objects: objects{
		operations: []refitv1alpha1.ClusterUpgrade{
			operation(refitv1alpha1.PhaseStalled, refitv1alpha1.ReasonDrainBlocked, 1000, stalled),
			operation(refitv1alpha1.PhaseWaiting, refitv1alpha1.ReasonOlderOperation, 800),
			running,
			done,
			{},
		},
		nodes: []refitv1alpha1.NodeUpgrade{
			node(refitv1alpha1.PermitApply, refitv1alpha1.NodeApplying, drained,
				step{Name: "fetch", StartTime: at(800), CompletionTime: at(830)},
				step{Name: "swap-kubelet", StartTime: at(1100), CompletionTime: at(1104)},
				step{Name: "verify-node", StartTime: at(1104)}),
			node(refitv1alpha1.PermitPrefetch, refitv1alpha1.NodePrefetched, &drain{Sequence: 3, Phase: refitv1alpha1.DrainBlocked}),
			node(refitv1alpha1.PermitPrefetch, refitv1alpha1.NodePrefetched, &drain{Sequence: 2, Phase: refitv1alpha1.DrainBlocked}),
			node(refitv1alpha1.PermitPrefetch, "", nil),
		},
	}}
}

// gathered is what Prometheus would read, without zeros.
func gathered(t *testing.T, registry prometheus.Gatherer) (values map[string]float64, series int) {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values = map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			name := family.GetName()
			for _, label := range m.GetLabel() {
				name += fmt.Sprintf("{%s=%q}", label.GetName(), label.GetValue())
			}
			if !strings.HasPrefix(name, "refit_") {
				continue
			}
			series++
			if h := m.GetHistogram(); h != nil {
				values[name+" count"], values[name+" sum"] = float64(h.GetSampleCount()), h.GetSampleSum()
			} else if v := m.GetGauge().GetValue(); v != 0 {
				values[name] = v
			}
		}
	}
	return values, series
}

func TestMetricsAreCountedFromTheObjects(t *testing.T) {
	for range 2 { // a second manager in the same process reports the same
		if err := register(someObjects()); err != nil {
			t.Fatal(err)
		}
	}
	got, series := gathered(t, ctrlmetrics.Registry)
	want := map[string]float64{
		`refit_operations{phase="Stalled"}`: 1, `refit_operations{phase="Waiting"}`: 1, `refit_operations{phase="Running"}`: 1,
		`refit_operations{phase="Succeeded"}`: 1, `refit_operations{phase="Planning"}`: 1,
		`refit_nodes{state="Applying"}`: 1, `refit_nodes{state="DrainBlocked"}`: 1, `refit_nodes{state="Prefetched"}`: 1, `refit_nodes{state="Idle"}`: 1,
		`refit_waiting{reason="DrainBlocked"}`: 1, `refit_waiting{reason="OlderOperation"}`: 1,
		`refit_stuck_nodes{reason="NodeUnavailable"}`: 3, `refit_stuck_nodes{reason="DrainBlocked"}`: 1,
		`refit_last_progress_timestamp_seconds`: 1104, `refit_stalled_since_timestamp_seconds`: 1000,
		`refit_step_duration_seconds{step="fetch"} count`: 1, `refit_step_duration_seconds{step="fetch"} sum`: 30,
		`refit_step_duration_seconds{step="swap-kubelet"} count`: 1, `refit_step_duration_seconds{step="swap-kubelet"} sum`: 4,
		`refit_drain_duration_seconds count`: 1, `refit_drain_duration_seconds sum`: 40,
	}
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s is %v, want %v", name, got[name], value)
		}
		delete(got, name)
	}
	if len(got) > 0 {
		t.Errorf("unexpected: %v", got)
	}
	if all := len(phases) + len(states) + 2*len(reasons) + 2 + 2 + 1; series != all {
		t.Errorf("there are %d series, want %d", series, all)
	}
}

func TestNothingIsReportedBeforeTheCacheHasSynced(t *testing.T) {
	if err := register(&stored{err: errors.New("the cache is not started")}); err != nil {
		t.Fatal(err)
	}
	if got, _ := gathered(t, ctrlmetrics.Registry); len(got) > 0 {
		t.Errorf("before the cache has synced: %v", got)
	}
	if err := register(&stored{}); err != nil {
		t.Fatal(err)
	}
	if got, _ := gathered(t, ctrlmetrics.Registry); got["refit_last_progress_timestamp_seconds"] != 0 || got["refit_stalled_since_timestamp_seconds"] != 0 {
		t.Errorf("without an operation: %v", got)
	}
}

// TestAlertsUseMetricsThatExist checks each metric and each label's value in the alerting rules.
func TestAlertsUseMetricsThatExist(t *testing.T) {
	text, err := os.ReadFile("../../../docs/alerts/refit.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Rules []struct {
				Alert       string            `json:"alert"`
				Expr        string            `json:"expr"`
				Annotations map[string]string `json:"annotations"`
			} `json:"rules"`
		} `json:"groups"`
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	alerts := 0
	for _, group := range file.Groups {
		for _, rule := range group.Rules {
			alerts++
			if !usesMetrics(t, rule.Alert, rule.Expr) || rule.Annotations["summary"] == "" || rule.Annotations["description"] == "" {
				t.Errorf("%s uses no metric of Refit, or has no summary or description: %+v", rule.Alert, rule)
			}
		}
	}
	if alerts < 4 {
		t.Errorf("there are %d alerts", alerts)
	}
}

// TestTheDashboardUsesMetricsThatExist checks the queries of the Grafana dashboard, and that each
// metric has one.
func TestTheDashboardUsesMetricsThatExist(t *testing.T) {
	text, err := os.ReadFile("../../../charts/refit/files/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, panel := range file.Panels {
		if len(panel.Targets) == 0 {
			t.Errorf("%s has no query", panel.Title)
		}
		for _, target := range panel.Targets {
			usesMetrics(t, panel.Title, target.Expr)
			all.WriteString(target.Expr + "\n")
		}
	}
	for _, m := range list {
		if !strings.Contains(all.String(), m.name) {
			t.Errorf("no panel shows %s", m.name)
		}
	}
}

// usesMetrics reports whether an expression uses a metric of Refit, and checks each metric and each
// value of a label in it.
func usesMetrics(t *testing.T, what, expression string) bool {
	t.Helper()
	names := regexp.MustCompile(`refit_[a-z_]+`).FindAllString(expression, -1)
	for _, name := range names {
		name = strings.TrimSuffix(name, "_bucket")
		if name != "refit_evictions_refused_total" && // of package nodeupgrade
			!slices.ContainsFunc(list, func(m metric) bool { return m.name == name }) {
			t.Errorf("%s: there is no metric %s", what, name)
		}
	}
	for _, matcher := range regexp.MustCompile(`(refit_[a-z_]+)\{([a-z]+)=~?"([^"]*)"\}`).FindAllStringSubmatch(expression, -1) {
		i := slices.IndexFunc(list, func(m metric) bool { return m.name == matcher[1] && m.label == matcher[2] })
		if i < 0 {
			t.Errorf("%s: %s has no label %s", what, matcher[1], matcher[2])
			continue
		}
		for value := range strings.SplitSeq(matcher[3], "|") {
			if !slices.Contains(list[i].values, value) {
				t.Errorf("%s: %s is never %q", what, matcher[2], value)
			}
		}
	}
	return len(names) > 0
}

func TestEveryMetricIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		name := m.name
		if m.label != "" {
			name += "{" + m.label + "}"
		}
		if !strings.Contains(string(text), "| `"+name+"` |") {
			t.Errorf("docs/metrics.md does not list %s", name)
		}
	}
}
