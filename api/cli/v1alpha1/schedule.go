package v1alpha1

import "time"

// The kinds of the documents about schedules.
const (
	KindSchedule       = "Schedule"
	KindSchedules      = "Schedules"
	KindScheduleChange = "ScheduleChange"
)

// Schedule is the result of `refit schedule show`.
type Schedule struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Cluster    string `json:"cluster"`

	ScheduleState `json:",inline"`
}

// Schedules is the result of `refit schedule list`.
type Schedules struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Cluster    string `json:"cluster"`
	// Schedules are all UpgradeSchedules, by name.
	Schedules []ScheduleState `json:"schedules"`
}

// ScheduleState is an UpgradeSchedule, its next starts and its last one.
type ScheduleState struct {
	Name     string    `json:"name"`
	Cron     string    `json:"cron,omitempty"`
	At       time.Time `json:"at,omitzero"`
	TimeZone string    `json:"timeZone"`
	Follow   string    `json:"follow"`

	MinAgeSeconds int64  `json:"minAgeSeconds,omitempty"`
	Lag           int32  `json:"lag,omitempty"`
	Approval      string `json:"approval"`
	Suspended     bool   `json:"suspended"`
	Ready         bool   `json:"ready"`             // false: it cannot start upgrades
	Message       string `json:"message,omitempty"` // why, or what happens next

	// NextStarts are the next starts in the time zone of the schedule: none if it is suspended.
	NextStarts []time.Time `json:"nextStarts,omitempty"`
	// Target is what the channel chooses now; empty if it chooses none.
	Target ScheduleTarget `json:"target,omitzero"`

	LastTime      time.Time `json:"lastTime,omitzero"`
	LastResult    string    `json:"lastResult,omitempty"` // Started, Skipped, NothingNewer or Missed
	LastMessage   string    `json:"lastMessage,omitempty"`
	LastOperation string    `json:"lastOperation,omitempty"`
}

// ScheduleTarget is what a channel chooses, and why.
type ScheduleTarget struct {
	From       string `json:"from,omitempty"`
	Kubernetes string `json:"kubernetes,omitempty"`
	Release    string `json:"release,omitempty"`
	Message    string `json:"message,omitempty"`
}

// ScheduleChange is the result of `refit schedule suspend` and `resume`.
type ScheduleChange struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Cluster    string `json:"cluster"`
	Schedule   string `json:"schedule"`
	Verb       string `json:"verb"`    // suspend, resume
	Changed    bool   `json:"changed"` // false: nothing had to be changed
	// Message is the consequence, in a sentence.
	Message string `json:"message"`
}
