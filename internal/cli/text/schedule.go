package text

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

// Schedules renders a list of schedules.
func Schedules(s *cliv1alpha1.Schedules) string {
	if len(s.Schedules) == 0 {
		return Clean(fmt.Sprintf("There are no schedules in %s. An UpgradeSchedule is one: docs/schedule.md has an example.", s.Cluster)) + "\n"
	}
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SCHEDULE\tSTATE\tNEXT START\tFOLLOWS\tTARGET\tLAST RESULT\tLAST UPGRADE")
	for i := range s.Schedules {
		state := &s.Schedules[i]
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", Clean(state.Name), scheduleWord(state), nextStart(state), Clean(state.Follow),
			dash(Clean(state.Target.Kubernetes)), dash(Clean(state.LastResult)), dash(Clean(state.LastOperation)))
	}
	w.Flush()
	lines := strings.Split(out.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

func scheduleWord(s *cliv1alpha1.ScheduleState) string {
	switch {
	case s.Suspended:
		return "suspended"
	case !s.Ready:
		return "not ready"
	case len(s.NextStarts) == 0:
		return "over"
	}
	return "ready"
}

func nextStart(s *cliv1alpha1.ScheduleState) string {
	if len(s.NextStarts) == 0 {
		return "-"
	}
	return startTime(s.NextStarts[0])
}

// startTime is a start on the local clock of its schedule, with its offset.
func startTime(t time.Time) string { return t.Format("Mon 2006-01-02 15:04 -07:00") }

// Schedule renders a schedule.
func Schedule(s *cliv1alpha1.Schedule, p Page) string {
	w := newWriter(p)
	w.para(0, as(bold, "Schedule "+s.Name), as(plain, "of "+s.Cluster+":"), as(plain, scheduleWord(&s.ScheduleState)))
	w.blank()
	w.backupField("Status", s.Message)
	if s.Cron != "" {
		w.backupField("Cron", s.Cron+", "+s.TimeZone)
	}
	if !s.At.IsZero() {
		w.backupField("At", s.At.Format(time.RFC3339))
	}
	w.backupField("Channel", channelOf(&s.ScheduleState))
	w.backupField("Approval", s.Approval)
	w.backupField("Target", targetOf(&s.Target))
	var starts []string
	for _, next := range s.NextStarts {
		starts = append(starts, startTime(next))
	}
	w.backupField("Next", strings.Join(starts, ", "))
	if s.LastResult != "" {
		w.backupField("Last", s.LastTime.Format(time.RFC3339)+", "+s.LastResult+": "+s.LastMessage)
	}
	w.backupField("Upgrade", s.LastOperation)
	return w.String()
}

func channelOf(s *cliv1alpha1.ScheduleState) string {
	out := s.Follow
	if s.MinAgeSeconds > 0 {
		out += ", at least " + phrase.Duration(time.Duration(s.MinAgeSeconds)*time.Second) + " old"
	}
	if s.Lag > 0 {
		out += ", " + phrase.Count(int(s.Lag), "minor version") + " behind the newest"
	}
	return out
}

func targetOf(t *cliv1alpha1.ScheduleTarget) string {
	if t.Kubernetes == "" {
		return t.Message
	}
	return t.Kubernetes + ": " + t.Message
}

// ScheduleChanged renders a change of a schedule.
func ScheduleChanged(c *cliv1alpha1.ScheduleChange, p Page) string {
	w := newWriter(p)
	w.para(0, as(plain, c.Message))
	return w.String()
}
