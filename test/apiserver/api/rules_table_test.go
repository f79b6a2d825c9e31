package api

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// fields are values by the paths of their fields; nil removes the field.
type fields map[string]any

// A tryout is one attempted write.
type tryout struct {
	kind, situation string
	// was is what the stored object has beyond the smallest one; nil: there is none, it is created.
	was fields
	// now is what is attempted: to create an object with it, to change its status, or to change the
	// rest.
	now fields
	// refused is a part of the server's error, or empty if it accepts the write.
	refused string
}

func (t tryout) String() string { return t.kind + ": " + t.situation }

const (
	hashA = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	hashB = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	now   = "2026-01-02T03:04:05Z"

	recipient = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"
)

type (
	object = map[string]any
	list   = []any
)

// smallest returns an object with the required fields only.
func smallest(kind, name string) object {
	spec := map[string]object{
		"ClusterUpgrade": {"target": object{"kubernetes": "v1.36.3"}},
		"NodeUpgrade": {
			"format": int64(1), "operation": object{"name": "to-v1.36.3", "uid": "u-1"}, "nodeUID": "n-1",
			"machineID": "0123456789abcdef0123456789abcdef", "sequence": int64(5), "epoch": int64(3), "role": "Worker",
			"release": object{"name": "v1.36.3", "digest": hashA}, "permit": "Hold",
		},
		"NodeReport":        {},
		"ClusterRelease":    {"kubernetes": "v1.36.3", "envelope": "QUJD"},
		"BackupStore":       {"path": object{"directory": "/mnt/backups"}, "recipients": list{recipient}},
		"EtcdBackup":        {"store": "offsite"},
		"UpgradeSchedule":   {"cron": "0 2 * * 0", "channel": object{"follow": "Patch"}},
		"MaintenanceWindow": {"timeZone": "Europe/Berlin", "open": list{object{"start": "02:00", "duration": "4h"}}},
		"Component":         {},
		"ComponentUpgrade": {
			"operation": object{"name": "to-v1.36.3", "uid": "u-1"}, "sequence": int64(5), "epoch": int64(3), "action": "Upgrade", "version": "2.0.0",
			"release": object{"name": "v1.36.3", "digest": hashA}, "kubernetes": "v1.35.4", "digest": hashA, "permit": "Hold",
		},
	}[kind]
	return object{"apiVersion": "refit.dev/v1alpha1", "kind": kind, "metadata": object{"name": name}, "spec": spec}
}

func pool(name string, more ...any) object {
	p := object{"name": name}
	if name != "default" {
		p["nodeSelector"] = object{"pool": name}
	}
	for i := 0; i < len(more); i += 2 {
		p[more[i].(string)] = more[i+1]
	}
	return p
}

func pools(all ...object) fields {
	var items list
	for _, p := range all {
		items = append(items, p)
	}
	return fields{"spec.pools": items}
}

// opening is the only opening of a MaintenanceWindow.
func opening(content ...any) fields {
	o := object{}
	for i := 0; i < len(content); i += 2 {
		o[content[i].(string)] = content[i+1]
	}
	return fields{"spec.open": list{o}}
}

func blackout(from, to string) fields {
	return fields{"spec.blackouts": list{object{"name": "year-end", "from": from, "to": to}}}
}

func condition(more ...any) fields {
	c := object{"type": "Ready", "status": "True", "reason": "Succeeded", "message": "", "lastTransitionTime": now}
	for i := 0; i < len(more); i += 2 {
		c[more[i].(string)] = more[i+1]
	}
	return fields{"status.conditions": list{c}}
}

// rehearsed returns hops, each with a number of findings.
func rehearsed(findings ...int) list {
	var hops list
	for _, n := range findings {
		hop := object{"release": object{"name": "kubernetes-v1.36.3", "digest": hashA}, "kubernetes": "v1.36.3", "at": now}
		var found list
		for range n {
			found = append(found, object{"reason": "FlagRemoved", "message": "it is unknown", "remedy": "Remove it"})
		}
		if found != nil {
			hop["findings"] = found
		}
		hops = append(hops, hop)
	}
	return hops
}

const (
	badOpening  = "must be at least 1m and at most 168h"
	badVersion  = "should match '^v1"
	whoFailed   = "a failure is that of a node or of a component"
	badTarget   = "set exactly one of kubernetes and release"
	noSelector  = "the pool default cannot have a nodeSelector; every other pool needs one"
	badShare    = "must be a number from 1 to 10000, or a percentage from 1% to 100%"
	badDuration = "must be longer than 0s and at most 168h"
	noDuration  = `should match '^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$'`
	keyTooLong  = "a label's key may have at most 317 characters"
	targetStays = "target cannot be changed: create another ClusterUpgrade"
	scopeStays  = "scope cannot be changed: create another ClusterUpgrade"
	nodesStay   = "nodeSelector cannot be changed: create another ClusterUpgrade"
	abortStays  = "aborted cannot be unset: create another ClusterUpgrade"
	retryStays  = "retry cannot be lowered"
	epochStays  = "status.epoch cannot be lowered: the writer is no longer the leader"
	ended       = "this operation has ended and cannot start again: create another ClusterUpgrade"
	sequence    = "every change of an order must raise its sequence"
	orderEpoch  = "epoch cannot be lowered: the writer is no longer the leader"
	longName    = "a name may have at most 63 characters"

	scheduleName = "a name may have at most 52 characters, without dots: the time of the start follows in the names of its ClusterUpgrades"
	oneTiming    = "set exactly one of cron and at"
	oneStore     = "exactly one of s3, path and gcs must be set"
	credentials  = "s3 and gcs need credentials; path has none"
	badAge       = "must be longer than 0s and at most 87600h"
	backupStays  = "an EtcdBackup is immutable: create another one"

	rehearsedHops = "hops must be set with the drill Rehearse, and only with it"
	allFindings   = "all hops together may list at most 16 findings"
	backupAge     = "must be at least 1h and at most 168h"
	onlyBackup    = "backup must be set with the permit Backup, and only with it"
	noOperation   = "operation and release are required, except with the permits Backup and Hold"
)

// tryouts has every rule of the CRDs: a write that it refuses, and a similar one that it accepts.
// TestEveryBoundIsEnforced tests the bounds.
var tryouts = []tryout{
	// Names
	{"ClusterUpgrade", "a name of 63 characters", nil, fields{"metadata.name": strings.Repeat("a", 63)}, ""},
	{"ClusterUpgrade", "a name of 64 characters", nil, fields{"metadata.name": strings.Repeat("a", 64)}, longName},
	{"ClusterRelease", "a name of 63 characters", nil, fields{"metadata.name": strings.Repeat("a", 63)}, ""},
	{"ClusterRelease", "a name of 64 characters", nil, fields{"metadata.name": strings.Repeat("a", 64)}, longName},
	{"BackupStore", "a name of 63 characters", nil, fields{"metadata.name": strings.Repeat("a", 63)}, ""},
	{"BackupStore", "a name of 64 characters", nil, fields{"metadata.name": strings.Repeat("a", 64)}, longName},
	{"Component", "a name of 63 characters", nil, fields{"metadata.name": strings.Repeat("a", 63)}, ""},
	{"Component", "a name of 64 characters", nil, fields{"metadata.name": strings.Repeat("a", 64)}, longName},
	{"Component", "a condition", fields{}, condition("message", strings.Repeat("a", 256)), ""},
	{"Component", "a long message", fields{}, condition("message", strings.Repeat("a", 257)), conditionOf(32, 256)},
	{"ComponentUpgrade", "a name of 63 characters", nil, fields{"metadata.name": strings.Repeat("a", 63)}, ""},
	{"ComponentUpgrade", "a name of 64 characters", nil, fields{"metadata.name": strings.Repeat("a", 64)}, longName},
	{"ComponentUpgrade", "a higher sequence", fields{}, fields{"spec.permit": "Apply", "spec.sequence": int64(6)}, ""},
	{"ComponentUpgrade", "the same sequence", fields{}, fields{"spec.permit": "Apply"}, "every change of an order must raise its sequence"},
	{"ComponentUpgrade", "a lower epoch", fields{}, fields{"spec.epoch": int64(2), "spec.sequence": int64(6)}, "epoch cannot be lowered: the writer is no longer the leader"},
	{"ComponentUpgrade", "a condition", fields{}, condition("message", strings.Repeat("a", 256)), ""},
	{"ComponentUpgrade", "a long message", fields{}, condition("message", strings.Repeat("a", 257)), conditionOf(32, 256)},
	{"EtcdBackup", "a name of 63 characters", nil, fields{"metadata.name": strings.Repeat("a", 63)}, ""},
	{"EtcdBackup", "a name of 64 characters", nil, fields{"metadata.name": strings.Repeat("a", 64)}, longName},
	{"MaintenanceWindow", "an unknown time zone", nil, fields{"spec.timeZone": "Europe/Atlantis"}, "spec.timeZone"},
	{"MaintenanceWindow", "the time zone of a host", nil, fields{"spec.timeZone": "Local"}, "must be the name of a time zone, such as Europe/Berlin"},
	{"MaintenanceWindow", "UTC", nil, fields{"spec.timeZone": "UTC"}, ""},
	{"MaintenanceWindow", "no opening", nil, fields{"spec.open": list{}}, "spec.open"},
	{"MaintenanceWindow", "an opening of 30 seconds", nil, opening("start", "02:00", "duration", "30s"), badOpening},
	{"MaintenanceWindow", "an opening of two weeks", nil, opening("start", "02:00", "duration", "336h"), badOpening},
	{"MaintenanceWindow", "an opening at 24:00", nil, opening("start", "24:00", "duration", "1h"), "start"},
	{"MaintenanceWindow", "the second and the last Sunday", nil, opening("start", "02:00", "duration", "90s", "days", list{"Sun"}, "weeks", list{int64(2), int64(-1)}), ""},
	{"MaintenanceWindow", "week zero", nil, opening("start", "02:00", "duration", "1h", "weeks", list{int64(0)}), "a week is 1 to 5, or -1 to -5 from the end of the month"},
	{"MaintenanceWindow", "a day in another language", nil, opening("start", "02:00", "duration", "1h", "days", list{"Mo"}), "days"},
	{"MaintenanceWindow", "a blackout", nil, blackout("2026-12-20T00:00", "2027-01-07T00:00"), ""},
	{"MaintenanceWindow", "a blackout that ends before it begins", nil, blackout("2027-01-07T00:00", "2026-12-20T00:00"), "to must be after from"},
	{"MaintenanceWindow", "a blackout with a time zone", nil, blackout("2026-12-20T00:00Z", "2027-01-07T00:00Z"), "from"},
	{"ClusterUpgrade", "a window", nil, fields{"spec.window": "weekend"}, ""},
	{"ClusterUpgrade", "another window", fields{"spec.window": "weekend"}, fields{"spec.window": "nights"}, ""},
	{"NodeUpgrade", "a change that has to start in time", nil, fields{"spec.permit": "Apply", "spec.format": int64(3), "spec.notAfter": now}, ""},
	{"NodeUpgrade", "the same in a format that agents may not know", nil, fields{"spec.permit": "Apply", "spec.format": int64(2), "spec.notAfter": now}, "notAfter is only for the permit Apply, since format 3"},
	{"NodeUpgrade", "a prefetch that has to start in time", nil, fields{"spec.permit": "Prefetch", "spec.format": int64(3), "spec.notAfter": now}, "notAfter is only for the permit Apply"},
	{"ComponentUpgrade", "a change that has to start in time", nil, fields{"spec.permit": "Apply", "spec.notAfter": now}, ""},
	{"ComponentUpgrade", "a rollback that has to start in time", nil, fields{"spec.permit": "Rollback", "spec.notAfter": now}, "notAfter is only for the permit Apply"},

	{"UpgradeSchedule", "a name of 52 characters", nil, fields{"metadata.name": strings.Repeat("a", 52)}, ""},
	{"UpgradeSchedule", "a name of 53 characters", nil, fields{"metadata.name": strings.Repeat("a", 53)}, scheduleName},
	{"UpgradeSchedule", "a name with a dot", nil, fields{"metadata.name": "a.b"}, scheduleName},
	{"UpgradeSchedule", "a time instead", nil, fields{"spec.cron": nil, "spec.at": now}, ""},
	{"UpgradeSchedule", "a time, too", nil, fields{"spec.at": now}, oneTiming},
	{"UpgradeSchedule", "no timing", nil, fields{"spec.cron": nil}, oneTiming},
	{"UpgradeSchedule", "a macro", nil, fields{"spec.cron": "@every 1h"}, "spec.cron"},
	{"UpgradeSchedule", "a time zone in the expression", nil, fields{"spec.cron": "CRON_TZ=Europe/Berlin 0 2 * * 0"}, "spec.cron"},
	{"UpgradeSchedule", "six fields", nil, fields{"spec.cron": "0 0 2 * * 0"}, "spec.cron"},
	{"UpgradeSchedule", "a time zone", nil, fields{"spec.timeZone": "Europe/Berlin"}, ""},
	{"UpgradeSchedule", "a time zone of three parts", nil, fields{"spec.timeZone": "America/Argentina/Buenos_Aires"}, ""},
	{"UpgradeSchedule", "an offset as time zone", nil, fields{"spec.timeZone": "Etc/GMT+2"}, ""},
	{"UpgradeSchedule", "an unknown time zone", nil, fields{"spec.timeZone": "Europe/Bielefeld"}, "the time zone is unknown"},
	{"UpgradeSchedule", "the time zone of the server", nil, fields{"spec.timeZone": "Local"}, "spec.timeZone"},
	{"UpgradeSchedule", "an offset that only CEL knows", nil, fields{"spec.timeZone": "+02:00"}, "spec.timeZone"},
	{"UpgradeSchedule", "a lag", nil, fields{"spec.channel": object{"follow": "Minor", "lag": int64(1)}}, ""},
	{"UpgradeSchedule", "a lag of patch releases", nil, fields{"spec.channel.lag": int64(1)}, "lag needs follow: Minor"},
	{"UpgradeSchedule", "the least deadline", nil, fields{"spec.startingDeadline": "1m"}, ""},
	{"UpgradeSchedule", "no deadline", nil, fields{"spec.startingDeadline": "0s"}, "must be at least 1m and at most 168h"},
	{"UpgradeSchedule", "a long deadline", nil, fields{"spec.startingDeadline": "169h"}, "must be at least 1m and at most 168h"},
	{"UpgradeSchedule", "an age of more than a year", nil, fields{"spec.channel.minAge": "8761h"}, "must be at most 8760h"},
	{"UpgradeSchedule", "two pools of one name", nil, fields{"spec.template": object{"pools": list{pool("gpu"), pool("gpu")}}}, "two pools have the same name"},
	{"UpgradeSchedule", "a condition", fields{}, condition("message", strings.Repeat("a", 512)), ""},
	{"UpgradeSchedule", "a long message", fields{}, condition("message", strings.Repeat("a", 513)), conditionOf(32, 512)},
	{"NodeUpgrade", "a name as long as a node's", nil, fields{"metadata.name": strings.Repeat("a", 253)}, ""},

	// Targets
	{"ClusterUpgrade", "a version", nil, fields{}, ""},
	{"ClusterUpgrade", "a ClusterRelease", nil, fields{"spec.target": object{"release": "mine"}}, ""},
	{"ClusterUpgrade", "both", nil, fields{"spec.target.release": "mine"}, badTarget},

	{"ClusterUpgrade", "a failed node", fields{}, fields{"status.failures": list{object{"node": "cp-1", "class": "HostBroken"}}}, ""},
	{"ClusterUpgrade", "a failed component", fields{}, fields{"status.failures": list{object{"component": "liqo", "class": "HostBroken"}}}, ""},
	{"ClusterUpgrade", "a failure of nothing", fields{}, fields{"status.failures": list{object{"class": "HostBroken"}}}, whoFailed},
	{
		"ClusterUpgrade", "a failure of both",
		fields{},
		fields{"status.failures": list{object{"node": "cp-1", "component": "liqo", "class": "HostBroken"}}},
		whoFailed,
	},
	{"ClusterUpgrade", "neither", nil, fields{"spec.target": object{}}, badTarget},
	{"ClusterUpgrade", "no target", nil, fields{"spec.target": nil}, "spec.target: Required value"},
	{"ClusterUpgrade", "a ClusterRelease without a name", nil, fields{"spec.target": object{"release": ""}}, "spec.target.release"},
	{"ClusterUpgrade", "the first patch", nil, fields{"spec.target.kubernetes": "v1.40.0"}, ""},
	{"ClusterUpgrade", "a version without v", nil, fields{"spec.target.kubernetes": "1.36.3"}, badVersion},
	{"ClusterUpgrade", "a minor version", nil, fields{"spec.target.kubernetes": "v1.36"}, badVersion},
	{"ClusterUpgrade", "a pre-release", nil, fields{"spec.target.kubernetes": "v1.37.0-rc.1"}, badVersion},
	{"ClusterUpgrade", "a version with metadata", nil, fields{"spec.target.kubernetes": "v1.36.3+a"}, badVersion},
	{"ClusterUpgrade", "a leading zero", nil, fields{"spec.target.kubernetes": "v1.36.03"}, badVersion},
	{"ClusterUpgrade", "another major version", nil, fields{"spec.target.kubernetes": "v2.0.0"}, badVersion},

	// Immutable fields
	{"ClusterUpgrade", "another version later", fields{}, fields{"spec.target.kubernetes": "v1.36.4"}, targetStays},
	{"ClusterUpgrade", "a ClusterRelease instead", fields{}, fields{"spec.target": object{"release": "mine"}}, targetStays},
	{"ClusterUpgrade", "another ClusterRelease", fields{"spec.target": object{"release": "mine"}}, fields{"spec.target.release": "yours"}, targetStays},
	{"ClusterUpgrade", "another scope", fields{"spec.scope": "Workers"}, fields{"spec.scope": "ControlPlane"}, scopeStays},
	{"ClusterUpgrade", "no scope any more", fields{"spec.scope": "Workers"}, fields{"spec.scope": nil}, scopeStays},
	{"ClusterUpgrade", "a scope where there was none", fields{}, fields{"spec.scope": "Workers"}, scopeStays},
	{"ClusterUpgrade", "the default scope left out", fields{"spec.scope": "All"}, fields{"spec.scope": nil}, ""},
	{"ClusterUpgrade", "another label", fields{"spec.nodeSelector": object{"zone": "a"}}, fields{"spec.nodeSelector": object{"zone": "b"}}, nodesStay},
	{"ClusterUpgrade", "one more label", fields{"spec.nodeSelector": object{"zone": "a"}}, fields{"spec.nodeSelector": object{"zone": "a", "x": "y"}}, nodesStay},
	{"ClusterUpgrade", "no labels any more", fields{"spec.nodeSelector": object{"zone": "a"}}, fields{"spec.nodeSelector": nil}, nodesStay},
	{"ClusterUpgrade", "empty labels where there were some", fields{"spec.nodeSelector": object{"zone": "a"}}, fields{"spec.nodeSelector": object{}}, nodesStay},
	{"ClusterUpgrade", "labels where there were none", fields{}, fields{"spec.nodeSelector": object{"zone": "a"}}, nodesStay},
	{"ClusterUpgrade", "labels where they were empty", fields{"spec.nodeSelector": object{}}, fields{"spec.nodeSelector": object{"zone": "a"}}, nodesStay},
	{"ClusterUpgrade", "empty labels left out", fields{"spec.nodeSelector": object{}}, fields{"spec.nodeSelector": nil}, ""},
	{"ClusterUpgrade", "the same labels, another policy", fields{"spec.nodeSelector": object{"zone": "a"}}, fields{"spec.rollback": "Manual"}, ""},
	{"ClusterRelease", "another version", fields{}, fields{"spec.kubernetes": "v1.36.4"}, "a ClusterRelease is immutable: create another one"},
	{"ClusterRelease", "another envelope", fields{}, fields{"spec.envelope": "QUJE"}, "a ClusterRelease is immutable: create another one"},
	{"ClusterRelease", "a label", fields{}, fields{"metadata.labels": object{"a": "b"}}, ""},

	// Irreversible fields
	{"ClusterUpgrade", "abort", fields{}, fields{"spec.aborted": true}, ""},
	{"ClusterUpgrade", "abort no more", fields{"spec.aborted": true}, fields{"spec.aborted": false}, abortStays},
	{"ClusterUpgrade", "abort left out", fields{"spec.aborted": true}, fields{"spec.aborted": nil}, abortStays},
	{"ClusterUpgrade", "pause", fields{}, fields{"spec.paused": true}, ""},
	{"ClusterUpgrade", "pause no more", fields{"spec.paused": true}, fields{"spec.paused": false}, ""},
	{"ClusterUpgrade", "the first retry", fields{}, fields{"spec.retry": int64(1)}, ""},
	{"ClusterUpgrade", "another retry", fields{"spec.retry": int64(1)}, fields{"spec.retry": int64(2)}, ""},
	{"ClusterUpgrade", "a lower retry", fields{"spec.retry": int64(2)}, fields{"spec.retry": int64(1)}, retryStays},
	{"ClusterUpgrade", "no retry any more", fields{"spec.retry": int64(2)}, fields{"spec.retry": nil}, retryStays},

	// Approval
	{"ClusterUpgrade", "a hash", nil, fields{"spec.approvedPlan": hashA}, ""},
	{"ClusterUpgrade", "an approval that is withdrawn", fields{"spec.approvedPlan": hashA}, fields{"spec.approvedPlan": ""}, ""},
	{"ClusterUpgrade", "no hash", nil, fields{"spec.approvedPlan": "yes"}, "spec.approvedPlan"},
	{"ClusterUpgrade", "a hash in capitals", nil, fields{"spec.approvedPlan": strings.Replace(hashA, "a", "A", 1)}, "spec.approvedPlan"},

	// Pools
	{"ClusterUpgrade", "two pools and the rest", nil, pools(pool("gpu"), pool("db"), pool("default")), ""},
	{"ClusterUpgrade", "two pools of one name", nil, pools(pool("gpu"), pool("gpu")), "two pools have the same name"},
	{"ClusterUpgrade", "default with a selector", nil, pools(pool("default", "nodeSelector", object{"a": "b"})), noSelector},
	{"ClusterUpgrade", "default with an empty selector", nil, pools(pool("default", "nodeSelector", object{})), ""},
	{"ClusterUpgrade", "another without one", nil, pools(object{"name": "gpu"}), noSelector},
	{"ClusterUpgrade", "another with an empty one", nil, pools(pool("gpu", "nodeSelector", object{})), noSelector},
	{"ClusterUpgrade", "a pool without a name", nil, pools(object{"nodeSelector": object{"a": "b"}}), "name: Required value"},
	{"ClusterUpgrade", "one node at a time", nil, pools(pool("gpu", "maxUnavailable", int64(1))), ""},
	{"ClusterUpgrade", "no node at a time", nil, pools(pool("gpu", "maxUnavailable", int64(0))), badShare},
	{"ClusterUpgrade", "fewer than none", nil, pools(pool("gpu", "maxUnavailable", int64(-1))), badShare},
	{"ClusterUpgrade", "10000 at a time", nil, pools(pool("gpu", "maxUnavailable", int64(10000))), ""},
	{"ClusterUpgrade", "10001 at a time", nil, pools(pool("gpu", "maxUnavailable", int64(10001))), badShare},
	{"ClusterUpgrade", "more than Go can read", nil, pools(pool("gpu", "maxUnavailable", int64(1)<<40)), badShare},
	{"ClusterUpgrade", "1%", nil, pools(pool("gpu", "maxUnavailable", "1%")), ""},
	{"ClusterUpgrade", "25%", nil, pools(pool("gpu", "maxUnavailable", "25%")), ""},
	{"ClusterUpgrade", "100%", nil, pools(pool("gpu", "maxUnavailable", "100%")), ""},
	{"ClusterUpgrade", "0%", nil, pools(pool("gpu", "maxUnavailable", "0%")), badShare},
	{"ClusterUpgrade", "101%", nil, pools(pool("gpu", "maxUnavailable", "101%")), badShare},
	{"ClusterUpgrade", "a number as text", nil, pools(pool("gpu", "maxUnavailable", "3")), badShare},
	{"ClusterUpgrade", "a fraction", nil, pools(pool("gpu", "maxUnavailable", 1.5)), "maxUnavailable"},
	{"ClusterUpgrade", "a canary", nil, pools(pool("gpu", "canary", object{"nodes": int64(2), "soak": "1h30m"})), ""},
	{"ClusterUpgrade", "a canary of none", nil, pools(pool("gpu", "canary", object{"nodes": int64(0)})), "canary.nodes"},
	{"ClusterUpgrade", "a soak of a week", nil, pools(pool("gpu", "canary", object{"soak": "168h"})), ""},
	{"ClusterUpgrade", "a soak of more", nil, pools(pool("gpu", "canary", object{"soak": "168h1s"})), badDuration},
	{"ClusterUpgrade", "no soak", nil, pools(pool("gpu", "canary", object{"soak": "0s"})), badDuration},
	{"ClusterUpgrade", "a soak below zero", nil, pools(pool("gpu", "canary", object{"soak": "-1s"})), noDuration},
	{"ClusterUpgrade", "a soak that Go cannot read", nil, pools(pool("gpu", "canary", object{"soak": "2 days"})), noDuration},
	{"ClusterUpgrade", "a drain of a second", nil, pools(pool("gpu", "drain", object{"timeout": "1s"})), ""},
	{"ClusterUpgrade", "a drain of no time", nil, pools(pool("gpu", "drain", object{"timeout": "0m"})), badDuration},
	{"ClusterUpgrade", "a drain that Go cannot read", nil, pools(pool("gpu", "drain", object{"timeout": "1w"})), noDuration},

	// Labels
	{"ClusterUpgrade", "the longest key", nil, fields{"spec.nodeSelector": labels(1, 317, 1)}, ""},
	{"ClusterUpgrade", "a longer key", nil, fields{"spec.nodeSelector": labels(1, 318, 1)}, keyTooLong},
	{"ClusterUpgrade", "a longer key of a pool", nil, pools(pool("gpu", "nodeSelector", labels(1, 318, 1))), keyTooLong},
	{"ClusterUpgrade", "2048 characters of labels", nil, fields{"spec.nodeSelector": labels(16, 65, 63)}, ""},
	{"ClusterUpgrade", "more of them", nil, fields{"spec.nodeSelector": labels(16, 66, 63)}, "all labels together may have at most 2048 characters"},
	{"ClusterUpgrade", "4096 of pools", nil, pools(pool("a", "nodeSelector", labels(16, 65, 63)), pool("b", "nodeSelector", labels(16, 65, 63))), ""},
	{
		"ClusterUpgrade", "more of pools", nil, pools(pool("a", "nodeSelector", labels(16, 65, 63)), pool("b", "nodeSelector", labels(16, 66, 63))),
		"the labels of all pools together may have at most 4096 characters",
	},

	// Waivers
	{"ClusterUpgrade", "a waiver", nil, fields{"spec.waivers": list{object{"check": "pdb", "reason": "known"}}}, ""},
	{"ClusterUpgrade", "a waiver without a reason", nil, fields{"spec.waivers": list{object{"check": "pdb"}}}, "reason: Required value"},
	{"ClusterUpgrade", "a waiver with an empty reason", nil, fields{"spec.waivers": list{object{"check": "pdb", "reason": ""}}}, "spec.waivers[0].reason"},
	{"ClusterUpgrade", "a waiver for everything", nil, fields{"spec.waivers": list{object{"reason": "in a hurry"}}}, "check: Required value"},
	{"ClusterUpgrade", "20 waivers of 512 characters", nil, fields{"spec.waivers": waivers(20, 512)}, ""},
	{"ClusterUpgrade", "21 of them", nil, fields{"spec.waivers": waivers(21, 512)}, "all waivers together may have at most 10240 characters"},

	// Abandoned nodes
	{"ClusterUpgrade", "4 abandoned nodes of 253 characters", nil, fields{"spec.abandonedNodes": names(4, 253)}, ""},
	{
		"ClusterUpgrade", "5 of them", nil,
		fields{"spec.abandonedNodes": names(5, 253)},
		"the names of all abandoned nodes together may have at most 1024 characters",
	},

	// The status of an operation
	{"ClusterUpgrade", "a new leader", fields{"status.epoch": int64(3)}, fields{"status.epoch": int64(4)}, ""},
	{"ClusterUpgrade", "the same leader", fields{"status.epoch": int64(3)}, fields{"status.active": list{"n1"}}, ""},
	{"ClusterUpgrade", "an old leader", fields{"status.epoch": int64(3)}, fields{"status.epoch": int64(2)}, epochStays},
	{"ClusterUpgrade", "no epoch any more", fields{"status.epoch": int64(3)}, fields{"status.epoch": nil}, epochStays},
	{"ClusterUpgrade", "no status any more", fields{"status.epoch": int64(3)}, fields{"status": nil}, epochStays},
	{"ClusterUpgrade", "an end", fields{"status.phase": "Running"}, fields{"status.phase": "Succeeded"}, ""},
	{"ClusterUpgrade", "news after the end", fields{"status.phase": "Aborted"}, fields{"status.message": "x"}, ""},
	{"ClusterUpgrade", "a second life", fields{"status.phase": "Succeeded"}, fields{"status.phase": "Running"}, ended},
	{"ClusterUpgrade", "another end", fields{"status.phase": "Aborted"}, fields{"status.phase": "Succeeded"}, ended},
	{"ClusterUpgrade", "no phase after the end", fields{"status.phase": "Aborted"}, fields{"status.phase": nil}, ended},
	{"ClusterUpgrade", "no status after the end", fields{"status.phase": "Aborted"}, fields{"status": nil}, ended},
	{"ClusterUpgrade", "a condition", fields{}, condition(), ""},
	{"ClusterUpgrade", "a long message", fields{}, condition("message", strings.Repeat("a", 512)), ""},
	{"ClusterUpgrade", "a longer one", fields{}, condition("message", strings.Repeat("a", 513)), conditionOf(64, 512)},
	{"ClusterUpgrade", "a long reason", fields{}, condition("reason", strings.Repeat("a", 65)), conditionOf(64, 512)},
	{"ClusterUpgrade", "a long type", fields{}, condition("type", strings.Repeat("a", 65)), conditionOf(64, 512)},
	{"ClusterUpgrade", "the longest words", fields{}, condition("type", strings.Repeat("a", 64), "reason", strings.Repeat("a", 64)), ""},
	{"ClusterUpgrade", "a time that Go cannot read", fields{}, condition("lastTransitionTime", "2026-01-02t03:04:05z"), "status.conditions"},

	{"ClusterRelease", "a condition", fields{}, condition(), ""},
	{"ClusterRelease", "a long message", fields{}, condition("message", strings.Repeat("a", 257)), conditionOf(32, 256)},

	// Orders
	{"NodeUpgrade", "the next order", fields{}, fields{"spec.sequence": int64(6), "spec.permit": "Apply"}, ""},
	{"NodeUpgrade", "the next order of the next leader", fields{}, fields{"spec.sequence": int64(6), "spec.epoch": int64(4)}, ""},
	{"NodeUpgrade", "another order of the same number", fields{}, fields{"spec.permit": "Apply"}, sequence},
	{"NodeUpgrade", "the same order of another leader", fields{}, fields{"spec.epoch": int64(4)}, sequence},
	{"NodeUpgrade", "an order from the past", fields{}, fields{"spec.sequence": int64(4)}, sequence},
	{"NodeUpgrade", "an order of an old leader", fields{}, fields{"spec.sequence": int64(6), "spec.epoch": int64(2)}, orderEpoch},
	{
		"NodeUpgrade", "an order of another operation with a lower epoch",
		fields{},
		fields{"spec.sequence": int64(6), "spec.epoch": int64(2), "spec.operation": object{"name": "b", "uid": "u-2"}},
		orderEpoch,
	},
	{"NodeUpgrade", "a label", fields{}, fields{"metadata.labels": object{"a": "b"}}, ""},
	{"NodeUpgrade", "a condition", fields{}, condition(), ""},
	{"NodeUpgrade", "a long message", fields{}, condition("message", strings.Repeat("a", 128)), ""},
	{"NodeUpgrade", "a longer one", fields{}, condition("message", strings.Repeat("a", 129)), conditionOf(32, 128)},
	{"NodeUpgrade", "a long reason", fields{}, condition("reason", strings.Repeat("a", 65)), conditionOf(32, 128)},
	{"NodeUpgrade", "a long type", fields{}, condition("type", strings.Repeat("a", 33)), conditionOf(32, 128)},
	{"NodeUpgrade", "the longest words", fields{}, condition("type", strings.Repeat("a", 32), "reason", strings.Repeat("a", 64)), ""},
	{"NodeUpgrade", "a time that Go cannot read", fields{}, condition("lastTransitionTime", "2026-01-02t03:04:05z"), "status.conditions"},

	{"NodeUpgrade", "a backup", fields{}, backupOrder(), ""},
	{"NodeUpgrade", "a backup of a node without an operation", nil, withoutOperation("Backup", backupRef), ""},
	{"NodeUpgrade", "the end of such a backup", nil, withoutOperation("Hold", nil), ""},
	{"NodeUpgrade", "an upgrade without an operation", nil, withoutOperation("Apply", nil), noOperation},
	{"NodeUpgrade", "a backup without a reference", fields{}, fields{"spec.sequence": int64(6), "spec.permit": "Backup"}, onlyBackup},
	{"NodeUpgrade", "an upgrade with one", fields{}, fields{"spec.sequence": int64(6), "spec.permit": "Apply", "spec.backup": backupRef}, onlyBackup},

	// Backups
	{"BackupStore", "a path", nil, fields{}, ""},
	{"BackupStore", "a bucket", nil, fields{"spec.path": nil, "spec.s3": bucket, "spec.credentials": "offsite"}, ""},
	{"BackupStore", "a bucket and a path", nil, fields{"spec.s3": bucket, "spec.credentials": "offsite"}, oneStore},
	{"BackupStore", "no store", nil, fields{"spec.path": nil, "spec.credentials": "offsite"}, oneStore},
	{"BackupStore", "a bucket without credentials", nil, fields{"spec.path": nil, "spec.s3": bucket}, credentials},
	{"BackupStore", "a path with credentials", nil, fields{"spec.credentials": "offsite"}, credentials},
	{"BackupStore", "no recipient", nil, fields{"spec.recipients": list{}}, "spec.recipients"},
	{"BackupStore", "an identity as recipient", nil, fields{"spec.recipients": list{"AGE-SECRET-KEY-1" + strings.Repeat("Q", 46)}}, "spec.recipients[0]"},
	{"BackupStore", "a relative path", nil, fields{"spec.path.directory": "backups"}, "spec.path.directory"},
	{"BackupStore", "a path upwards", nil, fields{"spec.path.directory": "/mnt/../etc"}, "spec.path.directory"},
	{"BackupStore", "retention by number", nil, fields{"spec.keep": object{"last": int64(7)}}, ""},
	{"BackupStore", "retention by age", nil, fields{"spec.keep": object{"age": "720h"}}, ""},
	{"EtcdBackup", "a drill", nil, fields{"spec.drill": "Restore"}, ""},
	{"EtcdBackup", "a rehearsal", nil, fields{"spec.drill": "Rehearse", "spec.hops": list{object{"name": "kubernetes-v1.36.3", "digest": "sha256:" + strings.Repeat("a", 64)}}}, ""},
	{"EtcdBackup", "a rehearsal without hops", nil, fields{"spec.drill": "Rehearse"}, rehearsedHops},
	{"EtcdBackup", "hops without a rehearsal", nil, fields{"spec.hops": list{object{"name": "kubernetes-v1.36.3", "digest": "sha256:" + strings.Repeat("a", 64)}}}, rehearsedHops},
	{"EtcdBackup", "16 findings in two hops", fields{}, fields{"status.rehearsed": rehearsed(10, 6)}, ""},
	{"EtcdBackup", "17 findings in three hops", fields{}, fields{"status.rehearsed": rehearsed(10, 0, 7)}, allFindings},
	{"NodeUpgrade", "17 findings in two hops", fields{}, fields{"status.backup": object{
		"uid": "b-1", "attempt": int64(1), "phase": "Succeeded", "rehearsed": rehearsed(16, 1),
	}}, allFindings},
	{"ClusterUpgrade", "a backup", nil, fields{"spec.backup": object{"maxAge": "168h"}}, ""},
	{"ClusterUpgrade", "a backup of any age", nil, fields{"spec.backup": object{"maxAge": "169h"}}, backupAge},
	{"ClusterUpgrade", "a backup that is outdated at once", nil, fields{"spec.backup": object{"maxAge": "59m"}}, backupAge},
	{"BackupStore", "retention of nothing", nil, fields{"spec.keep": object{}}, "last or age must be set"},
	{"BackupStore", "retention without end", nil, fields{"spec.keep": object{"age": "87601h"}}, badAge},
	{"BackupStore", "a condition", fields{}, condition("message", strings.Repeat("a", 512)), ""},
	{"BackupStore", "a long message", fields{}, condition("message", strings.Repeat("a", 513)), conditionOf(32, 512)},
	{"EtcdBackup", "a store", nil, fields{}, ""},
	{"EtcdBackup", "another store", fields{}, fields{"spec.store": "local"}, backupStays},
	{"EtcdBackup", "a label", fields{}, fields{"metadata.labels": object{"a": "b"}}, ""},
	{"EtcdBackup", "a condition", fields{}, condition("message", strings.Repeat("a", 512)), ""},
	{"EtcdBackup", "a long message", fields{}, condition("message", strings.Repeat("a", 513)), conditionOf(32, 512)},

	// Reports
	{"NodeReport", "an empty one", nil, fields{}, ""},
	{"NodeReport", "without a spec", nil, fields{"spec": nil}, ""},
	{"NodeReport", "a lower sequence, after etcd was restored", fields{"status.acceptedSequence": int64(9)}, fields{"status.acceptedSequence": int64(3)}, ""},
	{"NodeReport", "a feature gate", fields{}, fields{"status.kubelet": object{"featureGates": object{strings.Repeat("G", 64): true}}}, ""},
	{
		"NodeReport", "a longer one",
		fields{},
		fields{"status.kubelet": object{"featureGates": object{strings.Repeat("G", 65): true}}},
		"a feature gate's name may have at most 64 characters",
	},
}

func conditionOf(kind, message int) string {
	return fmt.Sprintf("a condition's type may have at most %d characters, its reason 64 and its message %d, and its time must be set", kind, message)
}

var (
	backupRef = object{"name": "nightly", "uid": "u-9", "attempt": int64(1), "store": "offsite"}
	bucket    = object{"endpoint": "https://s3.example.com", "bucket": "backups"}
)

func backupOrder() fields {
	return fields{"spec.sequence": int64(6), "spec.permit": "Backup", "spec.backup": backupRef}
}

// withoutOperation is an order to a node that no ClusterUpgrade has ordered anything.
func withoutOperation(permit string, backup object) fields {
	out := fields{"spec.operation": nil, "spec.release": nil, "spec.permit": permit}
	if backup != nil {
		out["spec.backup"] = backup
	}
	return out
}

// waivers returns waivers of this length.
func waivers(count, length int) list {
	var all list
	for range count {
		all = append(all, object{"check": "pdb", "reason": strings.Repeat("a", length-3)})
	}
	return all
}

// allTryouts returns the tryouts, and those of ClusterUpgrades again for the template of an
// UpgradeSchedule, as far as that has the same fields.
func allTryouts() []tryout {
	out := slices.Clone(tryouts)
	for _, try := range tryouts {
		if try.kind != "ClusterUpgrade" || try.was != nil || len(try.now) == 0 {
			continue
		}
		again := tryout{kind: "UpgradeSchedule", situation: "template: " + try.situation, now: fields{}, refused: try.refused}
		if inner, of := strings.CutPrefix(again.refused, "spec."); of {
			again.refused = "spec.template." + inner
		}
		for path, value := range try.now {
			field, of := strings.CutPrefix(path, "spec.")
			if of && slices.Contains([]string{"pools", "waivers", "backup", "nodeSelector"}, field) {
				again.now["spec.template."+field] = value
			}
		}
		if len(again.now) == len(try.now) {
			out = append(out, again)
		}
	}
	return out
}

// TestEveryRuleIsTested finds rules that no tryout violates: nothing would prove that they work.
func TestEveryRuleIsTested(t *testing.T) {
	tried := func(kind, message string) bool {
		for _, try := range allTryouts() {
			if try.kind == kind && try.refused == message {
				return true
			}
		}
		return false
	}
	rules := 0
	for kind, d := range definitions(t) {
		walk("", d.root(), func(path string, s *shape) {
			for _, r := range s.Rules {
				rules++
				if r.Message == "" {
					t.Errorf("%s %s: the rule %s has no message", kind, path, r.Rule)
				}
				if !tried(kind, r.Message) {
					t.Errorf("%s %s: nobody tries to break the rule %q", kind, path, r.Message)
				}
			}
		})
	}
	if rules < 15 {
		t.Errorf("only %d rules were found", rules)
	}
}

// names are names of nodes, each of a length.
func names(n, length int) list {
	var out list
	for i := range n {
		out = append(out, strings.Repeat(string(rune('a'+i)), length))
	}
	return out
}
