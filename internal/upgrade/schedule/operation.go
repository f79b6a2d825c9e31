package schedule

import (
	"fmt"
	"maps"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// OperationName returns the name of the ClusterUpgrade of a start. It follows from the time of the
// start, so that a start creates one ClusterUpgrade however often it is repeated.
func OperationName(schedule string, start time.Time) string {
	return fmt.Sprintf("%s-%d", schedule, start.Unix()/60)
}

// Operation returns the ClusterUpgrade of a start as the API has it. Its spec is the template,
// verbatim, with the target: an admission policy compares both.
func Operation(schedule map[string]any, name, slot string, start *Start) map[string]any {
	spec := map[string]any{"target": map[string]any{"release": start.Target.Release}}
	if given, is := schedule["spec"].(map[string]any); is {
		if template, is := given["template"].(map[string]any); is {
			maps.Copy(spec, template)
		}
	}
	return map[string]any{
		"apiVersion": refitv1alpha1.GroupVersion.String(), "kind": "ClusterUpgrade",
		"metadata": map[string]any{
			"name":   OperationName(name, start.Time),
			"labels": map[string]any{refitv1alpha1.LabelSchedule: name, refitv1alpha1.LabelScheduleSlot: slot},
		},
		"spec": spec,
	}
}
