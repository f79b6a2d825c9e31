package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/arguments"
	"github.com/refit-dev/refit/internal/cli/text"
)

func newScheduleCommand(a *app) *cobra.Command {
	return a.newGroup(&cobra.Command{
		Use:   "schedule",
		Short: "Show, suspend and resume schedules",
		Long: `Show, suspend and resume the UpgradeSchedules of a cluster. A schedule creates an upgrade at each of
its times, to the version that its channel chooses. Create it with kubectl or a GitOps tool.`,
		Example: a.example("# List the schedules", "schedule list", "# Show the next starts of a schedule", "schedule show weekly"),
	}, newScheduleListCommand(a), newScheduleShowCommand(a), newScheduleSuspendCommand(a), newScheduleResumeCommand(a))
}

// scheduleArgument accepts the name of a schedule.
var scheduleArgument = accept(arguments.One("name one schedule, as `refit schedule list` prints it"))

func newScheduleListCommand(a *app) *cobra.Command {
	return a.newView(&view{
		use:   "list",
		short: "List the schedules of a cluster",
		long: `List the schedules of a cluster: the next start on the local clock of each, the version that its
channel chooses now, and the result of the last start.`,
		example: []string{"# List the schedules", "schedule list", "# Print the list as JSON", "schedule list -o json"},
		args:    noArguments,
		read: func(r *reading) (any, func() string, error) {
			list, err := r.Schedules(r.Context())
			return list, func() string { return text.Schedules(list) }, err
		},
	})
}

func newScheduleShowCommand(a *app) *cobra.Command {
	return a.newView(&view{
		use:   "show NAME",
		short: "Show a schedule",
		long: `Show a schedule: its next five starts, the version that its channel chooses now and why, and the
result of the last start.`,
		example: []string{"# Show a schedule", "schedule show weekly", "# Print it as JSON", "schedule show weekly -o json"},
		args:    scheduleArgument, complete: scheduleNames,
		read: func(r *reading) (any, func() string, error) {
			s, err := r.Schedule(r.Context(), r.name)
			return s, func() string { return text.Schedule(s, a.Page(false)) }, err
		},
	})
}

func newScheduleSuspendCommand(a *app) *cobra.Command {
	return a.newView(&view{
		use:   "suspend NAME",
		short: "Suspend a schedule",
		long: `Suspend a schedule: it starts no further upgrades until you resume it. Upgrades in progress
continue.`,
		example:  []string{"# Suspend a schedule", "schedule suspend weekly"},
		args:     scheduleArgument,
		complete: scheduleNames,
		read:     suspendSchedule(a, true),
	})
}

func newScheduleResumeCommand(a *app) *cobra.Command {
	return a.newView(&view{
		use:   "resume NAME",
		short: "Resume a suspended schedule",
		long: `Resume a suspended schedule. It makes up for no start of the meantime: the next upgrade starts at
the next time of the schedule.`,
		example:  []string{"# Resume a schedule", "schedule resume weekly"},
		args:     scheduleArgument,
		complete: scheduleNames,
		read:     suspendSchedule(a, false),
	})
}

func suspendSchedule(a *app, suspend bool) func(r *reading) (any, func() string, error) {
	return func(r *reading) (any, func() string, error) {
		change, err := r.SuspendSchedule(r.Context(), r.name, suspend)
		return change, func() string { return text.ScheduleChanged(change, a.Page(false)) }, err
	}
}

// scheduleNames are the names of all schedules, for completion.
func scheduleNames(ctx context.Context, c *connection) []string {
	list, err := c.Schedules(ctx)
	if err != nil {
		return nil
	}
	var out []string
	for i := range list.Schedules {
		out = append(out, list.Schedules[i].Name)
	}
	return out
}
