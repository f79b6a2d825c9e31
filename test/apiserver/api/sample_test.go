package api

import (
	"fmt"
	"strings"
	"testing"
)

// A sampler creates objects that fill a schema: every field is set, and every list and text has its
// maximum length, or its minimum.
type sampler struct {
	largest bool
	kind    string
}

// byPattern returns, by pattern, a text that matches it and is at most n characters long. The index
// distinguishes the items of a list.
var byPattern = map[string]func(n, index int) string{
	"":                                       func(n, index int) string { return padded("a", n, index) },
	timePattern:                              func(int, int) string { return "2026-01-02T03:04:05Z" },
	`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`:       func(int, int) string { return "167h10m10.123456789s" },
	`^v1\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$`: func(n, _ int) string { return "v1.36." + strings.Repeat("3", max(1, n-6)) },
	`^v1\.(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*))?$`:                  func(n, _ int) string { return "v1.36." + strings.Repeat("3", max(1, n-6)) },
	`^sha256:[0-9a-f]{64}$`:                                      func(int, int) string { return "sha256:" + strings.Repeat("e", 64) },
	`^(sha256:[0-9a-f]{64})?$`:                                   func(int, int) string { return "sha256:" + strings.Repeat("e", 64) },
	`^[0-9a-f]{32}$`:                                             func(int, int) string { return strings.Repeat("e", 32) },
	`^[0-9a-zA-Z-]{1,36}$`:                                       func(n, index int) string { return padded("u", n, index) },
	`^[0-9a-f]{1,16}$`:                                           func(n, _ int) string { return strings.Repeat("e", n) },
	`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`:                           func(n, index int) string { return padded("n", n, index) },
	`^[-._a-zA-Z0-9]+$`:                                          func(n, index int) string { return padded("k", n, index) },
	`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`:                            func(n, index int) string { return padded("p", n, index) },
	`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`:                              func(n, index int) string { return padded("s", n, index) },
	`^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$`:              func(n, index int) string { return padded("v", n, index) },
	`^[A-Z][A-Za-z0-9]*$`:                                        func(n, index int) string { return padded("R", n, index) },
	`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`:                   func(n, index int) string { return padded("R", n, index) },
	`^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*$`: func(n, index int) string { return padded("p", n, index) },
	`^age1[02-9ac-hj-np-z]{58}$`:                                 func(_, index int) string { return "age1" + strings.Repeat("q", 57) + "qpzry9x8gf2tvdw0"[index:index+1] },
	`^https?://[A-Za-z0-9.:\[\]-]+$`:                             func(n, index int) string { return "https://" + padded("h", n-8, index) },
	`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`:                         func(n, index int) string { return padded("b", max(3, n), index) },
	`^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$`:                        func(n, index int) string { return padded("b", max(3, n), index) },
	`^[A-Za-z0-9-]+$`:                                            func(n, index int) string { return padded("r", n, index) },
	`^(/[A-Za-z0-9_][A-Za-z0-9._-]*)+$`:                          func(n, index int) string { return "/" + padded("d", n-1, index) },
	`^([0-9]+(\.[0-9]+)?(s|m|h))+$`:                              func(int, int) string { return "8759h59m59.123456789s" },
	`^[0-9a-f]+$`:                                                func(n, _ int) string { return strings.Repeat("e", n) },
	`^[A-Za-z][A-Za-z0-9_+/-]*$`:                                 func(n, index int) string { return padded("Z", n, index) },
	`^([01][0-9]|2[0-3]):[0-5][0-9]$`:                            func(int, int) string { return "02:00" },
	`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$`:                        func(n, index int) string { return padded("w", n, index) },
	`^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]$`: func(int, int) string { return "2026-12-20T00:00" },
	conditionTypePattern: func(n, index int) string { return padded("T", n, index) },
}

const conditionTypePattern = `^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$`

// padded returns a text of n characters that ends with a number.
func padded(letter string, n, index int) string {
	number := fmt.Sprint(index)
	return strings.Repeat(letter, max(1, n-len(number))) + number
}

// object returns a whole object of the sampler's kind.
func (s sampler) object(t *testing.T, name string) map[string]any {
	t.Helper()
	root := definitions(t)[s.kind].root()
	object := map[string]any{"apiVersion": "refit.dev/v1alpha1", "kind": s.kind, "metadata": map[string]any{"name": name}}
	for _, part := range []string{"spec", "status"} {
		if field, ok := root.Properties[part]; ok {
			object[part] = s.value(t, part, field, 0)
		}
	}
	return object
}

func (s sampler) value(t *testing.T, path string, field *shape, index int) any {
	t.Helper()
	if value, ok := s.chosen(path, index); ok {
		return value
	}
	switch {
	case len(field.Enum) > 0:
		longest := field.Enum[0]
		for _, word := range field.Enum {
			if s.largest && len(word) > len(longest) {
				longest = word
			}
		}
		return longest
	case field.Type == "string":
		return s.text(t, path, field, index)
	case field.Type == "integer":
		return s.number(field)
	case field.Type == "boolean":
		return true
	case field.Type == "array":
		return s.list(t, path, field)
	case field.Type == "object":
		object := map[string]any{}
		for name, property := range field.Properties {
			if value := s.value(t, path+"."+name, property, index); value != nil {
				object[name] = value
			}
		}
		return object
	}
	t.Fatalf("%s %s: there is no sample for it", s.kind, path)
	return nil
}

func (s sampler) text(t *testing.T, path string, field *shape, index int) string {
	t.Helper()
	sample, ok := byPattern[field.Pattern]
	if !ok {
		t.Fatalf("%s %s: there is no sample for the pattern %s", s.kind, path, field.Pattern)
	}
	length := max(field.MinLength, 1)
	if s.largest && field.MaxLength != nil {
		length = *field.MaxLength
	}
	if field.Format == "date-time" {
		return byPattern[timePattern](0, 0)
	}
	if field.Format == "byte" {
		return strings.Repeat("QUJD", max(1, length/4))
	}
	return sample(length, index)
}

func (s sampler) number(field *shape) int64 {
	const largest = 1 << 40 // larger than any count
	switch {
	case s.largest && field.Maximum != nil:
		return *field.Maximum
	case s.largest:
		return largest
	case field.Minimum != nil:
		return max(1, *field.Minimum)
	default:
		return 1
	}
}

func (s sampler) list(t *testing.T, path string, field *shape) []any {
	t.Helper()
	length := 1
	if s.largest {
		length = *field.MaxItems
	}
	items := make([]any, length)
	for i := range items {
		items[i] = s.value(t, path+"[]", field.Items, i)
	}
	return items
}

// chosen returns the values that rules, and not bounds, restrict.
func (s sampler) chosen(path string, index int) (any, bool) {
	pick := func(small, large int) int {
		if s.largest {
			return large
		}
		return small
	}
	if inner, of := strings.CutPrefix(path, "spec.template."); of && s.kind == "UpgradeSchedule" { // the same fields
		return sampler{kind: "ClusterUpgrade", largest: s.largest}.chosen("spec."+inner, index)
	}
	switch s.kind + " " + path {
	case "MaintenanceWindow spec.timeZone":
		return "America/Argentina/ComodRivadavia", true
	case "MaintenanceWindow spec.open[].duration":
		return "167h59m59s", true
	case "MaintenanceWindow spec.open[].weeks[]":
		return int64(index%5) + 1, true
	case "MaintenanceWindow spec.blackouts[].to":
		return "2027-01-07T00:00", true
	case "NodeUpgrade spec.notAfter":
		return nil, true // the permit is Backup
	case "ComponentUpgrade spec.permit":
		return "Apply", true // it has every field
	case "UpgradeSchedule spec.at":
		return nil, true // a schedule has either of both
	case "UpgradeSchedule spec.cron":
		return cronOf(s.largest), true
	case "UpgradeSchedule spec.timeZone":
		return "America/Argentina/ComodRivadavia", true
	case "UpgradeSchedule spec.channel.follow":
		return "Minor", true // with a lag
	case "UpgradeSchedule spec.startingDeadline":
		return "167h59m59s", true
	case "UpgradeSchedule status.conditions[].type":
		return padded("T", pick(1, 32), index), true
	case "UpgradeSchedule status.conditions[].reason":
		return padded("T", pick(1, 64), index), true
	case "UpgradeSchedule status.conditions[].message":
		return padded("m", pick(1, 512), index), true
	case "NodeUpgrade status.backup.rehearsed[].findings", "EtcdBackup status.rehearsed[].findings":
		return nil, s.largest && index > 0 // the total is at most 16, all of them in one hop
	case "ClusterUpgrade spec.target.kubernetes":
		return nil, true // the name of a ClusterRelease is longer
	case "ClusterUpgrade status.failures[].component":
		return nil, true // the name of a node is longer, and a failure has one of them
	case "ClusterUpgrade spec.nodeSelector":
		return labels(pick(1, 16), pick(1, 65), pick(1, 63)), true
	case "ClusterUpgrade spec.pools[].nodeSelector":
		// The total is at most 4096 characters.
		return labels(1, pick(10, 65), pick(1, 63)), true
	case "ClusterUpgrade spec.pools[].maxUnavailable":
		return "100%", true
	case "ClusterUpgrade spec.abandonedNodes[]":
		return padded("n", 64, index), true // the total is at most 1024 characters, 64 for each of 16
	case "ClusterUpgrade spec.waivers[].check":
		return padded("c", 63, index), true // the total is at most 10240 characters, 160 for each of 64
	case "ClusterUpgrade spec.waivers[].object", "ClusterUpgrade spec.waivers[].reason":
		return padded("o", pick(1, 48), index), true
	case "ClusterUpgrade status.conditions[].type", "ClusterUpgrade status.conditions[].reason":
		return padded("T", pick(1, 64), index), true
	case "NodeUpgrade spec.permit":
		return "Backup", true // it has every field
	case "ClusterUpgrade spec.backup.maxAge":
		return "167h59m59s", true
	case "Component spec.values":
		return map[string]any{"replicas": int64(1)}, true // free content
	case "Component status.conditions[].message", "ComponentUpgrade status.conditions[].message":
		return padded("m", pick(1, 256), index), true
	case "EtcdBackup spec.drill":
		return "Rehearse", true // it has every field
	case "BackupStore spec.path", "BackupStore spec.gcs":
		return nil, true // S3 has the most fields
	case "EtcdBackup status.conditions[].message", "BackupStore status.conditions[].message":
		return padded("m", pick(1, 512), index), true
	case "NodeUpgrade status.conditions[].type", "ClusterRelease status.conditions[].type", "EtcdBackup status.conditions[].type",
		"BackupStore status.conditions[].type", "Component status.conditions[].type", "ComponentUpgrade status.conditions[].type":
		return padded("T", pick(1, 32), index), true
	case "NodeUpgrade status.conditions[].reason", "ClusterRelease status.conditions[].reason", "EtcdBackup status.conditions[].reason",
		"BackupStore status.conditions[].reason", "Component status.conditions[].reason", "ComponentUpgrade status.conditions[].reason":
		return padded("T", pick(1, 64), index), true
	case "ClusterRelease status.conditions[].message":
		return padded("m", pick(1, 256), index), true
	case "ClusterUpgrade status.conditions[].message":
		return padded("m", pick(1, 512), index), true
	case "NodeUpgrade status.conditions[].message":
		return padded("m", pick(1, 128), index), true
	case "NodeReport status.kubelet.featureGates":
		gates := map[string]any{}
		for i := range pick(1, 32) {
			gates[padded("G", pick(1, 64), i)] = false
		}
		return gates, true
	}
	return nil, false
}

// cronOf returns a valid cron expression, with the most characters if it is the largest.
func cronOf(largest bool) string {
	if largest {
		return "0 " + strings.Repeat("10,", 39) + "1 * * 0"
	}
	return "0 2 * * 0"
}

func labels(count, key, value int) map[string]any {
	all := map[string]any{}
	for i := range count {
		all[padded("k", key, i)] = padded("v", value, i)
	}
	return all
}
