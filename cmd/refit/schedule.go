package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/arguments"
	"github.com/refit-dev/refit/internal/cli/schedules"
	"github.com/refit-dev/refit/internal/cli/text"
)

func newScheduleCommand(a *app) *cobra.Command {
	return a.newGroup(&cobra.Command{
		Use: "schedule", Short: "Show, suspend and resume schedules", Long: schedules.Help,
		Example: a.example("# List the schedules", "schedule list", "# Show the next starts of a schedule", "schedule show weekly"),
	}, newScheduleListCommand(a), newScheduleShowCommand(a), newScheduleSuspendCommand(a), newScheduleResumeCommand(a))
}

// scheduleArgument accepts the name of a schedule.
var scheduleArgument = accept(arguments.One("name one schedule, as `refit schedule list` prints it"))

func newScheduleListCommand(a *app) *cobra.Command {
	return a.newView(&view{
		use: "list", short: "List the schedules of a cluster", long: schedules.ListHelp, args: noArguments,
		example: []string{"# List the schedules", "schedule list", "# Print the list as JSON", "schedule list -o json"},
		read: func(r *reading) (any, func() string, error) {
			list, err := r.Schedules(r.Context())
			return list, func() string { return text.Schedules(list) }, err
		},
	})
}

func newScheduleShowCommand(a *app) *cobra.Command {
	return a.newView(&view{
		use: "show NAME", short: "Show a schedule", long: schedules.ShowHelp, args: scheduleArgument, complete: scheduleNames,
		example: []string{"# Show a schedule", "schedule show weekly", "# Print it as JSON", "schedule show weekly -o json"},
		read: func(r *reading) (any, func() string, error) {
			s, err := r.Schedule(r.Context(), r.name)
			return s, func() string { return text.Schedule(s, a.Page(false)) }, err
		},
	})
}

func newScheduleSuspendCommand(a *app) *cobra.Command {
	return a.newView(&view{
		use: "suspend NAME", short: "Suspend a schedule", long: schedules.SuspendHelp, args: scheduleArgument, complete: scheduleNames,
		example: []string{"# Suspend a schedule", "schedule suspend weekly"}, read: suspendSchedule(a, true),
	})
}

func newScheduleResumeCommand(a *app) *cobra.Command {
	return a.newView(&view{
		use: "resume NAME", short: "Resume a suspended schedule", long: schedules.ResumeHelp, args: scheduleArgument, complete: scheduleNames,
		example: []string{"# Resume a schedule", "schedule resume weekly"}, read: suspendSchedule(a, false),
	})
}

func suspendSchedule(a *app, suspend bool) func(r *reading) (any, func() string, error) {
	return func(r *reading) (any, func() string, error) {
		change, err := r.SuspendSchedule(r.Context(), r.name, suspend)
		return change, func() string { return text.ScheduleChanged(change, a.Page(false)) }, err
	}
}

func scheduleNames(ctx context.Context, c *connection) []string {
	return schedules.Names(ctx, c.Cluster)
}
