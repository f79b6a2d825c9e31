package plan

import (
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// windowStories are about maintenance windows. They start on a Monday at 10:00 UTC.
var windowStories = []story{
	{
		name: "window",
		summary: "Nodes may be disrupted from 14:00 to 14:14 and from 17:00 to 17:14. Everything is prefetched at once, and the backup is taken two hours before. " +
			"The control plane fits into the first opening as a whole, and so do some of the workers; the others follow in the second.",
		scenario: minor(shape(3, 4), pods(load{"cart", 3, 1, false}), inWindow(opens(14*time.Minute, "14:00", "17:00"))),
		duration: 9 * time.Hour, ends: Succeeded,
	},
	{
		name:     "window-prefetch",
		summary:  "Prefetch of the window is InWindow: that, too, waits until it is open.",
		scenario: minor(shape(1, 1), inWindow(prefetchInWindow(opens(time.Hour, "11:00")))), ends: Succeeded,
	},
	{
		name: "window-control-plane",
		summary: "An opening is long enough for one control plane node, and not for all three. The window has controlPlane Whole, so nothing starts " +
			"and the operation stalls with both numbers, until the user sets NodeByNode.",
		scenario: minor(shape(3, 0), inWindow(opens(8*time.Minute, "11:00", "12:00", "13:00", "14:00"))), ends: Succeeded,
		script: []scriptEvent{{at(70), func(t *storyRun) {
			nodeByNode := *t.window
			nodeByNode.ControlPlane = refitv1alpha1.WindowNodeByNode
			t.editWindow(&nodeByNode, "* the user sets controlPlane of the window to NodeByNode")
		}}},
	},
	{
		name:     "window-too-short",
		summary:  "No opening is long enough for a node: the operation stalls with both numbers until the user makes one longer.",
		scenario: minor(shape(1, 1), inWindow(opens(4*time.Minute, "11:00", "12:00"))), ends: Succeeded,
		script: []scriptEvent{{later(10, is(Stalled)), func(t *storyRun) {
			t.editWindow(opens(15*time.Minute, "11:00", "12:00", "13:00"), "* the user makes the openings longer")
		}}},
	},
	{
		name:     "window-missing",
		summary:  "The MaintenanceWindow does not exist. Prefetching goes on; nothing is disrupted.",
		scenario: minor(shape(1, 1), inWindow(nil)), ends: Succeeded,
		script: []scriptEvent{{at(30), func(t *storyRun) { t.editWindow(opens(30*time.Minute, "11:00"), "* the user creates the window") }}},
	},
	{
		name: "window-drain",
		summary: "The drain of worker-1 is blocked. It is given up while there is still time for the change of a node, and worker-1 is released unchanged. " +
			"The reason stays visible. The next opening starts over.",
		scenario: minor(shape(1, 1), pods(load{"cart", 2, 0, false}), inWindow(opens(20*time.Minute, "11:00", "13:00"))), ends: Succeeded,
		script: []scriptEvent{{at(150), func(t *storyRun) { t.relaxBudgets() }}},
	},
	{
		name: "window-retry",
		summary: "The change of worker-1 fails at the end of the window, and rollback is Manual. The user retries at once: the partly changed host waits " +
			"for the next opening, cordoned.",
		scenario: minor(shape(1, 1), inWindow(opens(15*time.Minute, "11:00", "13:00")), spec(func(s *refitv1alpha1.ClusterUpgradeSpec) { s.Rollback = refitv1alpha1.RollbackManual })),
		ends:     Succeeded,
		script: []scriptEvent{
			{applying("worker-1"), failsNextStep("worker-1")},
			{later(15, is(Stalled)), func(t *storyRun) { t.retry() }},
		},
	},
	{
		name:     "window-open-until",
		summary:  "The change of a minute: an approver opens the window for this upgrade until 10:30, hours before its next opening.",
		scenario: minor(shape(1, 1), inWindow(opens(time.Hour, "22:00"))), ends: Succeeded,
		script: []scriptEvent{{at(10), func(t *storyRun) {
			until := stamp(simulationStart.Add(30 * time.Minute))
			t.edit(func(s *refitv1alpha1.ClusterUpgradeSpec) { s.OpenUntil = until }, "the user opens the window until 10:30")
		}}},
	},
	{
		name:     "window-component",
		summary:  "The components change in the window, too: gateway before the control plane, mesh after it.",
		scenario: minor(shape(1, 0), inWindow(opens(20*time.Minute, "11:00")), withComponents(gateway, mesh)), ends: Succeeded,
	},
	{
		name: "window-agent-stops",
		summary: "The agent of cp-1 stops just after it was ordered to change the host, and starts again an hour after the window has closed. " +
			"It changes nothing: the order is withdrawn, and the node is upgraded in the next opening.",
		scenario: minor(shape(1, 1), inWindow(opens(20*time.Minute, "11:00", "13:00"))), ends: Succeeded,
		script: []scriptEvent{
			{ordered("cp-1"), agentStops("cp-1")},
			{later(65, ordered("cp-1")), agentStarts("cp-1")},
		},
	},
}

func prefetchInWindow(window *refitv1alpha1.MaintenanceWindowSpec) *refitv1alpha1.MaintenanceWindowSpec {
	window.Prefetch = refitv1alpha1.PrefetchInWindow
	return window
}
