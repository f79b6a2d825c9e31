package main

import (
	"encoding/json"
	"fmt"
)

// panel is a panel of the dashboard. Every controller reports the same, so queries use max.
type panel struct {
	title, description string
	kind               string // of Grafana
	width, height      int    // of 24 columns, and in rows
	unit               string
	queries            []query
}

type query struct {
	expression string
	legend     string
}

// panels are the panels of the dashboard, row by row.
var panels = []panel{
	{
		title: "Operations", description: "ClusterUpgrades by phase.", kind: "stat", width: 12, height: 5,
		queries: []query{{`max by (phase) (refit_operations) > 0`, "{{phase}}"}},
	},
	{
		title: "Without progress", description: "How long ago an unfinished upgrade made progress.", kind: "stat", width: 6, height: 5, unit: "s",
		queries: []query{{`time() - max(refit_last_progress_timestamp_seconds)`, ""}},
	},
	{
		title: "Requires intervention", description: "How long a stalled upgrade has been waiting for you. refit status shows the remedy.",
		kind: "stat", width: 6, height: 5, unit: "s",
		queries: []query{{`time() - max(refit_stalled_since_timestamp_seconds)`, ""}},
	},
	{
		title: "Nodes", description: "Nodes by the state of their last upgrade.", kind: "timeseries", width: 12, height: 9,
		queries: []query{{`max by (state) (refit_nodes) > 0`, "{{state}}"}},
	},
	{
		title: "Waiting", description: "Why upgrades wait, and why nodes require manual intervention.", kind: "timeseries", width: 12, height: 9,
		queries: []query{
			{`max by (reason) (refit_waiting) > 0`, "{{reason}}"},
			{`max by (reason) (refit_stuck_nodes) > 0`, "{{reason}} (nodes)"},
		},
	},
	{
		title: "Steps", description: "The duration of each step of the last upgrade of each node, 90th percentile.",
		kind: "bargauge", width: 12, height: 10, unit: "s",
		queries: []query{{`histogram_quantile(0.9, max by (step, le) (refit_step_duration_seconds_bucket))`, "{{step}}"}},
	},
	{
		title: "Drains", description: "The duration of the last drain of each node.", kind: "stat", width: 6, height: 5, unit: "s",
		queries: []query{
			{`histogram_quantile(0.5, max by (le) (refit_drain_duration_seconds_bucket))`, "median"},
			{`histogram_quantile(0.9, max by (le) (refit_drain_duration_seconds_bucket))`, "90th percentile"},
		},
	},
	{
		title: "Refused evictions", description: "Evictions that a PodDisruptionBudget or the API server refused, per minute.",
		kind: "timeseries", width: 6, height: 5,
		queries: []query{{`sum(rate(refit_evictions_refused_total[5m])) * 60`, "refused"}},
	},
	{
		title: "Controllers", description: "Reconciliations with an error, per minute.", kind: "timeseries", width: 6, height: 5,
		queries: []query{{`sum by (controller) (rate(controller_runtime_reconcile_errors_total{namespace="refit-system"}[5m])) * 60`, "{{controller}}"}},
	},
	{
		title: "Memory of the controllers", description: "Of each replica.", kind: "timeseries", width: 6, height: 5, unit: "bytes",
		queries: []query{{`process_resident_memory_bytes{namespace="refit-system"}`, "{{pod}}"}},
	},
}

// dashboard returns the dashboard of Grafana as JSON.
func dashboard() ([]byte, error) {
	type fields = map[string]any
	source := fields{"type": "prometheus", "uid": "${datasource}"}
	var all []fields
	x, y, height := 0, 0, 0
	for i, p := range panels {
		if x+p.width > 24 {
			x, y, height = 0, y+height, 0
		}
		var targets []fields
		for at, q := range p.queries {
			targets = append(targets, fields{"refId": string(rune('A' + at)), "datasource": source, "expr": q.expression, "legendFormat": q.legend})
		}
		all = append(all, fields{
			"id": i + 1, "type": p.kind, "title": p.title, "description": p.description, "datasource": source, "targets": targets,
			"gridPos":     fields{"x": x, "y": y, "w": p.width, "h": p.height},
			"fieldConfig": fields{"defaults": fields{"unit": p.unit}, "overrides": []any{}},
		})
		x, height = x+p.width, max(height, p.height)
	}
	text, err := json.MarshalIndent(fields{
		"uid": "refit", "title": "Refit", "tags": []string{"refit", "kubernetes"}, "schemaVersion": 39, "version": 1, "editable": true,
		"refresh": "30s", "time": fields{"from": "now-6h", "to": "now"}, "panels": all,
		"templating": fields{"list": []fields{{"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"}}},
	}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("cannot encode the dashboard: %w", err)
	}
	return append(text, '\n'), nil
}
