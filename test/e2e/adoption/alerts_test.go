//go:build e2e

package adoption

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/refit-dev/refit/test/e2e/bed"
)

const rulesFile = "../../../docs/alerts/refit.yaml"

// situation is what the controllers report for two hours, a sample per minute, and the alerts that
// fire in the end, with their labels.
type situation struct {
	series map[string]string
	fires  map[string]map[string]string
}

// idle is what controllers report without an operation.
var idle = map[string]string{
	`refit_operations{phase="Running"}`: "0x120", `refit_operations{phase="Stalled"}`: "0x120", `refit_operations{phase="Aborting"}`: "0x120",
	`refit_nodes{state="Failed"}`: "0x120", `refit_nodes{state="DrainBlocked"}`: "0x120",
}

// with returns the idle report with changes.
func with(changes map[string]string) map[string]string {
	out := maps.Clone(idle)
	maps.Copy(out, changes)
	return out
}

var situations = map[string]situation{
	"no operation": {series: idle},
	"an operation that progresses": {
		series: with(map[string]string{`refit_operations{phase="Running"}`: "1x120", "refit_last_progress_timestamp_seconds": "0+60x120"}),
	},
	"a pause of an hour and a half": {
		series: with(map[string]string{`refit_operations{phase="Paused"}`: "1x120", "refit_last_progress_timestamp_seconds": "1800x120"}),
	},
	"a drain that was blocked for ten minutes": {
		series: with(map[string]string{`refit_nodes{state="DrainBlocked"}`: "0x109 1x10"}),
	},
	"one replica without a report": {
		series: map[string]string{`refit_operations{phase="Running",pod="a"}`: "0x120", `refit_operations{phase="Running",pod="b"}`: "0x30 _x90"},
	},
	"an operation that requires manual intervention": {
		series: with(map[string]string{`refit_operations{phase="Stalled"}`: "1x120"}),
		fires:  map[string]map[string]string{"RefitUpgradeStalled": nil},
	},
	"a failed node": {
		series: with(map[string]string{`refit_nodes{state="Failed"}`: "1x120"}),
		fires:  map[string]map[string]string{"RefitUpgradeFailed": nil},
	},
	"a failed node whose NodeUpgrade is deleted": {
		series: with(map[string]string{`refit_waiting{reason="NodeFailed"}`: "1x120"}),
		fires:  map[string]map[string]string{"RefitUpgradeFailed": nil},
	},
	"an operation without progress for more than an hour": {
		series: with(map[string]string{`refit_operations{phase="Running"}`: "1x120", "refit_last_progress_timestamp_seconds": "1800x120"}),
		fires:  map[string]map[string]string{"RefitUpgradeNotProgressing": nil},
	},
	"an abort without progress for more than an hour": {
		series: with(map[string]string{`refit_operations{phase="Aborting"}`: "1x120", "refit_last_progress_timestamp_seconds": "1800x120"}),
		fires:  map[string]map[string]string{"RefitUpgradeNotProgressing": nil},
	},
	"a stuck node while others progress": {
		series: with(map[string]string{
			`refit_operations{phase="Running"}`: "1x120", "refit_last_progress_timestamp_seconds": "0+60x120", `refit_stuck_nodes{reason="DrainBlocked"}`: "1x120",
		}),
		fires: map[string]map[string]string{"RefitNodeStuck": {"reason": "DrainBlocked"}},
	},
	"a drain that stays blocked": {
		series: with(map[string]string{`refit_nodes{state="DrainBlocked"}`: "1x120"}),
		fires:  map[string]map[string]string{"RefitDrainBlocked": nil},
	},
	"no controller": {
		series: map[string]string{"up": "1x120"},
		fires:  map[string]map[string]string{"RefitControllerDown": nil},
	},
}

// TestAdoptionAlerts tests with promtool that each alert fires in its situations and in no other.
func TestAdoptionAlerts(t *testing.T) {
	tool := bed.Prometheus(t).Tool
	rules, err := filepath.Abs(rulesFile)
	bed.Must(t, err)
	bed.Run(t, tool, "check", "rules", "--lint=all", "--lint-fatal", rules)
	alerts := readAlerts(t)
	fired := map[string]bool{}
	for name, s := range situations {
		t.Run(name, func(t *testing.T) {
			test := map[string]any{"interval": "1m", "input_series": seriesOf(s.series), "alert_rule_test": s.expectations(alerts)}
			text, err := yaml.Marshal(map[string]any{"rule_files": []string{rules}, "evaluation_interval": "1m", "tests": []any{test}})
			bed.Must(t, err)
			file := filepath.Join(t.TempDir(), "test.yaml")
			bed.Must(t, os.WriteFile(file, text, 0o644))
			bed.Run(t, tool, "test", "rules", file)
		})
		for alert := range s.fires {
			fired[alert] = true
		}
	}
	for alert := range alerts {
		if !fired[alert] {
			t.Errorf("no situation fires %s", alert)
		}
	}
}

// alert is an alerting rule.
type alert struct {
	Alert       string            `json:"alert"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

func readAlerts(t *testing.T) map[string]alert {
	t.Helper()
	text, err := os.ReadFile(rulesFile)
	bed.Must(t, err)
	var file struct {
		Groups []struct {
			Rules []alert `json:"rules"`
		} `json:"groups"`
	}
	bed.Must(t, yaml.Unmarshal(text, &file))
	out := map[string]alert{}
	for _, group := range file.Groups {
		for _, rule := range group.Rules {
			out[rule.Alert] = rule
		}
	}
	return out
}

func seriesOf(series map[string]string) (out []any) {
	for _, name := range slices.Sorted(maps.Keys(series)) {
		out = append(out, map[string]string{"series": name, "values": series[name]})
	}
	return out
}

// expectations lists every alert at the end of the samples, of which only some fire.
func (s *situation) expectations(alerts map[string]alert) (out []any) {
	for _, name := range slices.Sorted(maps.Keys(alerts)) {
		expected := []any{}
		if labels, fires := s.fires[name]; fires {
			all := maps.Clone(alerts[name].Labels)
			maps.Copy(all, labels)
			expected = append(expected, map[string]any{"exp_labels": all, "exp_annotations": alerts[name].Annotations})
		}
		out = append(out, map[string]any{"eval_time": "119m", "alertname": name, "exp_alerts": expected})
	}
	return out
}
