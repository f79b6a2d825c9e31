package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MaintenanceWindow is when nodes and components may be disrupted. A ClusterUpgrade names it in
// spec.window; several may share one. A node whose change would not end before the window closes is
// not started, and agents start no change that they were late for.
//
// Times are on the local clock of the time zone. A time that the clock skips is when it skips it,
// and of a time that it shows twice the first counts.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,shortName=mw,categories=refit
// +kubebuilder:printcolumn:name="Zone",type=string,JSONPath=`.spec.timeZone`
// +kubebuilder:printcolumn:name="Days",type=string,JSONPath=`.spec.open[*].days`
// +kubebuilder:printcolumn:name="Start",type=string,JSONPath=`.spec.open[*].start`
// +kubebuilder:printcolumn:name="Duration",type=string,JSONPath=`.spec.open[*].duration`
// +kubebuilder:printcolumn:name="ControlPlane",type=string,JSONPath=`.spec.controlPlane`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type MaintenanceWindow struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is when the window is open.
	// +required
	Spec MaintenanceWindowSpec `json:"spec"`
}

// MaintenanceWindowList is a list of MaintenanceWindows.
//
// +kubebuilder:object:root=true
type MaintenanceWindowList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []MaintenanceWindow `json:"items"`
}

// MaintenanceWindowSpec is when a window is open.
type MaintenanceWindowSpec struct {
	// timeZone is the time zone of all times, by its name in the IANA database, such as
	// Europe/Berlin or UTC.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z][A-Za-z0-9_+/-]*$`
	// +kubebuilder:validation:XValidation:rule="self != 'Local' && timestamp('2026-01-01T00:00:00Z').getFullYear(self) > 0",message="must be the name of a time zone, such as Europe/Berlin"
	TimeZone string `json:"timeZone,omitempty"`
	// open are the openings. Those that overlap or follow each other are one.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Open []Opening `json:"open,omitempty"`
	// blackouts are periods in which the window is closed.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Blackouts []Blackout `json:"blackouts,omitempty"`
	// controlPlane is when the first control plane node of a version may be started. Whole: if
	// every remaining one fits before the window closes, so that the cluster does not stay at two
	// versions until the next opening. NodeByNode: if it fits itself.
	// +optional
	// +kubebuilder:default=Whole
	ControlPlane WindowControlPlane `json:"controlPlane,omitempty"`
	// prefetch is when files and images are downloaded. Anytime: also while the window is closed.
	// InWindow: only while it is open.
	// +optional
	// +kubebuilder:default=Anytime
	Prefetch WindowPrefetch `json:"prefetch,omitempty"`
}

// Opening is a period that is repeated.
type Opening struct {
	// days are the days on which it starts. Without any, it starts on every day.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=7
	Days []Weekday `json:"days,omitempty"`
	// weeks limit the days to some of the month: 1 is the first Sunday of the month if days has
	// Sun, and -1 the last one.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:items:Minimum=-5
	// +kubebuilder:validation:items:Maximum=5
	// +kubebuilder:validation:XValidation:rule="self.all(week, week != 0)",message="a week is 1 to 5, or -1 to -5 from the end of the month"
	Weeks []int32 `json:"weeks,omitempty"`
	// start is the local time at which it opens, such as 02:00.
	// +required
	// +kubebuilder:validation:MaxLength=5
	// +kubebuilder:validation:Pattern=`^([01][0-9]|2[0-3]):[0-5][0-9]$`
	Start string `json:"start,omitempty"`
	// duration is how far the local clock advances until it closes. From 02:00 on, 4h ends at
	// 06:00, also on the day on which a clock change makes that three or five hours.
	// +required
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1m') && duration(self) <= duration('168h')",message="must be at least 1m and at most 168h"
	Duration metav1.Duration `json:"duration,omitzero"`
}

// Weekday is a day of the week.
// +kubebuilder:validation:Enum=Mon;Tue;Wed;Thu;Fri;Sat;Sun
type Weekday string

// Blackout is a period in which a window is closed.
//
// +kubebuilder:validation:XValidation:rule="self.from < self.to",message="to must be after from"
type Blackout struct {
	// name is shown where the window is closed for this period.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`
	// from is the local time at which it begins, such as 2026-12-20T00:00.
	// +required
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]$`
	From string `json:"from,omitempty"`
	// to is the local time at which it ends.
	// +required
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]$`
	To string `json:"to,omitempty"`
}

// WindowControlPlane is when the first control plane node of a version may be started.
// +kubebuilder:validation:Enum=Whole;NodeByNode
type WindowControlPlane string

// The values of WindowControlPlane.
const (
	WindowWhole      WindowControlPlane = "Whole"      // if every remaining node fits
	WindowNodeByNode WindowControlPlane = "NodeByNode" // if it fits itself
)

// WindowPrefetch is when files and images are downloaded.
// +kubebuilder:validation:Enum=Anytime;InWindow
type WindowPrefetch string

// The values of WindowPrefetch.
const (
	PrefetchAnytime  WindowPrefetch = "Anytime"  // also while the window is closed
	PrefetchInWindow WindowPrefetch = "InWindow" // only while it is open
)
