package plan

import "time"

// clockStories are about clocks that are wrong.
var clockStories = []story{
	{
		name: "clock-behind",
		summary: "The clocks of cp-2 and worker-1 are ten minutes behind. Their reports count from when they were requested, " +
			"and the soak of the canary is not shortened.",
		scenario: minor(shape(3, 3), oneCanary()), ends: Succeeded,
		before: skewedBy(-10*time.Minute, "cp-2", "worker-1"),
	},
	{
		name:     "clock-ahead",
		summary:  "The clocks of cp-2 and worker-1 are ten minutes ahead. Reports from before the change of cp-2 do not count, and the soak ends.",
		scenario: minor(shape(3, 3), oneCanary()), ends: Succeeded,
		before: skewedBy(10*time.Minute, "cp-2", "worker-1"),
	},
	{
		name:     "agent-stops-a-year-ahead",
		summary:  "The clock of worker-1 is a year ahead, and its agent stops during the upgrade. Refit finds that nevertheless.",
		scenario: minor(shape(1, 2)), duration: 30 * time.Minute,
		before: skewedBy(365*24*time.Hour, "worker-1"),
		script: []scriptEvent{{applying("worker-1"), agentStops("worker-1")}},
	},
	{
		name:     "controller-clock-wrong",
		summary:  "The clock of the controller jumps by ten minutes. The node in progress finishes, and nothing starts until the clock is right.",
		scenario: minor(shape(3, 2)), ends: Succeeded,
		script: []scriptEvent{{applying("cp-2"), controllerClock(10 * time.Minute)}, {at(25), controllerClock(0)}},
	},
}

func skewedBy(skew time.Duration, names ...string) func(*world) {
	return func(w *world) {
		for _, name := range names {
			w.machine(name).skew = skew
			w.machine(name).writeReport(w)
		}
	}
}

func controllerClock(skew time.Duration) func(*storyRun) {
	return func(t *storyRun) {
		t.note("! the clock of the controller is off by %s", skew)
		t.leader.skew = skew
	}
}
