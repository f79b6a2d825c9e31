package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// UpgradeSchedule creates ClusterUpgrades at scheduled times, to the version that its channel
// chooses. At most 8 UpgradeSchedules of a cluster are in effect.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=us,categories=refit
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$') && self.metadata.name.size() <= 52",message="a name may have at most 52 characters, without dots: the time of the start follows in the names of its ClusterUpgrades"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Follow",type=string,JSONPath=`.spec.channel.follow`
// +kubebuilder:printcolumn:name="Suspend",type=boolean,JSONPath=`.spec.suspend`
// +kubebuilder:printcolumn:name="Next",type=string,JSONPath=`.status.nextScheduleTime`
// +kubebuilder:printcolumn:name="Target",type=string,JSONPath=`.status.target.kubernetes`
// +kubebuilder:printcolumn:name="Result",type=string,JSONPath=`.status.lastResult`
// +kubebuilder:printcolumn:name="Last",type=date,JSONPath=`.status.lastScheduleTime`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Cron",type=string,JSONPath=`.spec.cron`,priority=1
// +kubebuilder:printcolumn:name="Time Zone",type=string,JSONPath=`.spec.timeZone`,priority=1
// +kubebuilder:printcolumn:name="Operation",type=string,JSONPath=`.status.lastOperation`,priority=1
type UpgradeSchedule struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is when upgrades start, and to which versions.
	// +required
	Spec UpgradeScheduleSpec `json:"spec"`
	// status is the next start and the last one. The controller writes it.
	// +optional
	Status UpgradeScheduleStatus `json:"status,omitzero"`
}

// UpgradeScheduleList is a list of UpgradeSchedules.
//
// +kubebuilder:object:root=true
type UpgradeScheduleList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []UpgradeSchedule `json:"items"`
}

// UpgradeScheduleSpec is when upgrades start, and to which versions.
//
// +kubebuilder:validation:XValidation:rule="has(self.cron) != has(self.at)",message="set exactly one of cron and at"
type UpgradeScheduleSpec struct {
	// cron is when upgrades start, as five fields: minute, hour, day of the month, month, day of
	// the week. Macros such as @daily are not supported. A start in the hour that a change to
	// daylight saving time skips takes place at the end of that hour, and an hour that occurs twice
	// counts once.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[0-9A-Za-z*/,?-]+( +[0-9A-Za-z*/,?-]+){4}$`
	Cron string `json:"cron,omitempty"`
	// at is when one upgrade starts.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	At *metav1.Time `json:"at,omitempty"`
	// timeZone is the time zone of cron, as the tz database names it: Europe/Berlin.
	// +optional
	// +kubebuilder:default=UTC
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^(UTC|[A-Z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){1,2})$`
	// +kubebuilder:validation:XValidation:rule="timestamp('2026-01-01T00:00:00Z').getFullYear(self) > 2000",message="the time zone is unknown"
	TimeZone string `json:"timeZone,omitempty"`
	// channel chooses the version at each start.
	// +required
	Channel Channel `json:"channel,omitzero"`
	// startingDeadline is how late an upgrade may start, for example because no controller was
	// running. A start that is later is recorded as missed.
	// +optional
	// +kubebuilder:default="1h"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1m') && duration(self) <= duration('168h')",message="must be at least 1m and at most 168h"
	StartingDeadline metav1.Duration `json:"startingDeadline,omitzero"`
	// suspend stops further starts. Upgrades in progress continue. Starts while suspended are not
	// made up for.
	// +optional
	Suspend bool `json:"suspend,omitempty"`
	// template is the spec of the ClusterUpgrades, apart from their targets. While its approval is
	// None, creating the schedule and changing its spec, other than suspend, require the verb
	// `approve` on clusterupgrades.
	// +optional
	// +kubebuilder:default={}
	Template UpgradeTemplate `json:"template,omitzero"`
}

// Channel chooses the version to upgrade to from the ClusterReleases in the cluster.
//
// +kubebuilder:validation:XValidation:rule="!has(self.lag) || self.lag == 0 || self.follow == 'Minor'",message="lag needs follow: Minor"
type Channel struct {
	// follow is what the channel follows. Patch: the newest patch release of the minor version that
	// the cluster runs. Minor: the newest patch release of the next minor version, or of the
	// running one if there is none.
	// +required
	Follow Follow `json:"follow,omitempty"`
	// minAge is the least age of a ClusterRelease. It counts from the creation of the
	// ClusterRelease in this cluster: a signed release has no date.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('0s') && duration(self) <= duration('8760h')",message="must be at most 8760h"
	MinAge metav1.Duration `json:"minAge,omitzero"`
	// lag is how many minor versions the cluster stays behind the newest minor version that has a
	// ClusterRelease, of any age.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3
	Lag int32 `json:"lag,omitempty"`
}

// Follow is the kind of a channel.
// +kubebuilder:validation:Enum=Patch;Minor
type Follow string

// The kinds of channels.
const (
	FollowPatch Follow = "Patch"
	FollowMinor Follow = "Minor"
)

// UpgradeTemplate has the fields of a ClusterUpgrade that a schedule may set.
type UpgradeTemplate struct {
	// scope is the part of the cluster to upgrade: All (control plane and workers), ControlPlane
	// (only control plane nodes) or Workers (only workers).
	// +optional
	// +kubebuilder:default=All
	Scope Scope `json:"scope,omitempty"`
	// nodeSelector limits the upgrade to workers that have all of these labels. It does not apply
	// to control plane nodes.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(key, key.size() <= 317)",message="a label's key may have at most 317 characters"
	// +mapType=atomic
	// +kubebuilder:validation:XValidation:rule="self.map(key, key.size() + self[key].size()).sum() <= 2048",message="all labels together may have at most 2048 characters"
	NodeSelector Labels `json:"nodeSelector,omitempty"`
	// approval defines whether each plan needs approval. Required: no node is disrupted until the
	// plan is approved. None: upgrades start without approval.
	// +optional
	// +kubebuilder:default=Required
	Approval Approval `json:"approval,omitempty"`
	// window is the name of the MaintenanceWindow in which nodes and components may be disrupted.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$`
	Window string `json:"window,omitempty"`
	// waivers waive findings of the preflight checks, each by the ID of its check and with a
	// reason.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="self.map(w, w.check.size() + w.reason.size() + w.?object.orValue('').size()).sum() <= 10240",message="all waivers together may have at most 10240 characters"
	Waivers []Waiver `json:"waivers,omitempty"`
	// backup is the backup of etcd that each hop of the control plane relies on.
	// +optional
	// +kubebuilder:default={}
	// +structType=atomic
	Backup *UpgradeBackup `json:"backup,omitempty"`
	// rollback is the policy for a node that does not become healthy at the new version. Auto: the
	// agent rolls it back. Manual: the upgrade stops and requires manual intervention.
	// +optional
	// +kubebuilder:default=Auto
	Rollback Rollback `json:"rollback,omitempty"`
	// pools define policies for groups of workers.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.all(p, self.exists_one(q, q.name == p.name))",message="two pools have the same name"
	// +kubebuilder:validation:XValidation:rule="self.map(p, has(p.nodeSelector) ? p.nodeSelector.map(key, key.size() + p.nodeSelector[key].size()).sum() : 0).sum() <= 4096",message="the labels of all pools together may have at most 4096 characters"
	Pools []Pool `json:"pools,omitempty"`
}

// UpgradeScheduleStatus is the next start and the last one.
type UpgradeScheduleStatus struct {
	// observedGeneration is the generation of the spec that this status is about.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// nextScheduleTime is the next start. It is empty while the schedule is suspended, and after
	// the start of a schedule with at.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	NextScheduleTime *metav1.Time `json:"nextScheduleTime,omitempty"`
	// lastScheduleTime is the scheduled time of the last start. No start up to it is repeated.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	LastScheduleTime *metav1.Time `json:"lastScheduleTime,omitempty"`
	// lastResult is the result of the last start. Started: it created lastOperation. Skipped: an
	// older ClusterUpgrade had not ended. NothingNewer: the channel chose no version. Missed: the
	// start could not take place until startingDeadline.
	// +optional
	LastResult StartResult `json:"lastResult,omitempty"`
	// lastMessage describes the result.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	LastMessage string `json:"lastMessage,omitempty"`
	// lastOperation is the last ClusterUpgrade of the schedule.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	LastOperation string `json:"lastOperation,omitempty"`
	// target is what the channel chooses now.
	// +optional
	// +structType=atomic
	Target *ScheduleTarget `json:"target,omitempty"`
	// timing is the cron expression with its time zone, or the time, that startsFrom is about. It
	// is empty while the schedule is suspended.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Timing string `json:"timing,omitempty"`
	// startsFrom is since when starts count: the creation of the schedule, or when the controller
	// observed a change of its timing or its resumption.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`
	StartsFrom *metav1.Time `json:"startsFrom,omitempty"`
	// conditions: Ready is False while the schedule cannot start upgrades. Stalled is True while
	// that requires manual intervention.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=2
	// +kubebuilder:validation:XValidation:rule="self.all(c, c.type.size() <= 32 && c.reason.size() <= 64 && c.message.size() <= 512 && c.lastTransitionTime > timestamp('2000-01-01T00:00:00Z'))",message="a condition's type may have at most 32 characters, its reason 64 and its message 512, and its time must be set"
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ScheduleTarget is what a channel chooses.
type ScheduleTarget struct {
	// from is the version that the cluster runs.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	From string `json:"from,omitempty"`
	// kubernetes is the chosen version, empty if there is none.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Kubernetes string `json:"kubernetes,omitempty"`
	// release is the chosen ClusterRelease.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Release string `json:"release,omitempty"`
	// message is why the channel chooses it, or why it chooses none.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
}

// StartResult is the result of a start.
// +kubebuilder:validation:Enum=Started;Skipped;NothingNewer;Missed
type StartResult string

// The results of a start.
const (
	StartStarted      StartResult = "Started"
	StartSkipped      StartResult = "Skipped"
	StartNothingNewer StartResult = "NothingNewer"
	StartMissed       StartResult = "Missed"
)

// ScheduleSlots is how many UpgradeSchedules of a cluster are in effect. Each has a slot of its
// own: an admission policy reads the UpgradeSchedule of the slot, since a policy cannot require
// that one of several objects fits.
const ScheduleSlots = 8

// The labels of the ClusterUpgrades of a schedule. The UpgradeSchedule has LabelScheduleSlot, too.
const (
	// LabelSchedule is the name of the UpgradeSchedule.
	LabelSchedule = "refit.dev/schedule"
	// LabelScheduleSlot is the number of its slot.
	LabelScheduleSlot = "refit.dev/schedule-slot"
)

// The reasons of the conditions of an UpgradeSchedule.
const (
	// ReasonScheduled: the next start is in status.nextScheduleTime.
	ReasonScheduled = "Scheduled"
	// ReasonSuspended: spec.suspend is set.
	ReasonSuspended = "Suspended"
	// ReasonNoFurtherStart: the time of the schedule has passed.
	ReasonNoFurtherStart = "NoFurtherStart"
	// ReasonInvalidTiming: the cron expression or the time zone cannot be used.
	ReasonInvalidTiming = "InvalidTiming"
	// ReasonTooManySchedules: all slots are in use.
	ReasonTooManySchedules = "TooManySchedules"
	// ReasonStartFailed: a start is due and failed; it is retried until startingDeadline.
	ReasonStartFailed = "StartFailed"
)

// The ServiceAccount that creates the ClusterUpgrades of schedules.
const (
	SchedulerNamespace = "refit-system"
	SchedulerName      = "refit-scheduler"
	SchedulerUser      = "system:serviceaccount:" + SchedulerNamespace + ":" + SchedulerName
)

// Spec returns the spec of a ClusterUpgrade that is created from the template.
func (t *UpgradeTemplate) Spec(target Target) ClusterUpgradeSpec {
	t = t.DeepCopy()
	return ClusterUpgradeSpec{
		Target: target, Scope: t.Scope, NodeSelector: t.NodeSelector, Approval: t.Approval, Window: t.Window, Waivers: t.Waivers, Backup: t.Backup,
		Rollback: t.Rollback, Pools: t.Pools,
	}
}
