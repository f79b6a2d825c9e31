package text_test

import (
	"testing"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/text"
)

func TestSchedules(t *testing.T) {
	zone := time.FixedZone("CET", 3600)
	next := []time.Time{time.Date(2026, 12, 1, 1, 0, 0, 0, zone), time.Date(2026, 12, 8, 1, 0, 0, 0, zone)}
	weekly := cliv1alpha1.ScheduleState{
		Name: "weekly", Cron: "0 1 * * 2", TimeZone: "Europe/Berlin", Follow: "Patch", MinAgeSeconds: 604800, Approval: "Required", Ready: true,
		Message: "the next start is at 2026-12-01T00:00:00Z", NextStarts: next,
		Target: cliv1alpha1.ScheduleTarget{
			From: "v1.35.4", Kubernetes: "v1.35.6", Release: "kubernetes-v1.35.6",
			Message: "kubernetes-v1.35.6 is the newest ClusterRelease that channel Patch permits from v1.35.4",
		},
		LastTime: time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC), LastResult: "Skipped", LastMessage: "ClusterUpgrade manual had not ended at 2026-11-24T00:00:00Z",
		LastOperation: "weekly-29903580",
	}
	minor := cliv1alpha1.ScheduleState{
		Name: "minor", Cron: "0 1 * * 6", TimeZone: "UTC", Follow: "Minor", Lag: 1, Approval: "None", Suspended: true, Ready: true, Message: "spec.suspend is set",
		Target: cliv1alpha1.ScheduleTarget{From: "v1.35.4", Message: "the cluster runs v1.35.4, and there is no newer ClusterRelease of v1.35"},
	}
	list := text.Schedules(&cliv1alpha1.Schedules{Cluster: "prod", Schedules: []cliv1alpha1.ScheduleState{minor, weekly}})
	golden(t, "schedules", list, 100)
	golden(t, "schedule", text.Schedule(&cliv1alpha1.Schedule{Cluster: "prod", ScheduleState: weekly}, text.Page{Width: 100}), 100)
	golden(t, "schedule-suspended", text.Schedule(&cliv1alpha1.Schedule{Cluster: "prod", ScheduleState: minor}, text.Page{Width: 100}), 100)
}
