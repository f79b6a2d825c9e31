package main

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestScheduleCommands(t *testing.T) {
	for situation, c := range map[string]struct {
		args string
		code int
		out  string
		err  string
	}{
		"list":                   {"schedule list", 0, "weekly    ready", ""},
		"list as JSON":           {"schedule list -o json", 0, `"kind": "Schedules"`, ""},
		"show":                   {"schedule show weekly", 0, "Target    v1.35.6: newer", ""},
		"show as JSON":           {"schedule show weekly -o json", 0, `"nextStarts": [`, ""},
		"show another":           {"schedule show nightly", 1, "", "there is no UpgradeSchedule nightly"},
		"show nothing":           {"schedule show", 2, "", "name one schedule"},
		"suspend":                {"schedule suspend weekly", 0, "it starts no upgrades", ""},
		"resume what is resumed": {"schedule resume weekly", 0, "was not suspended", ""},
		"resume as JSON":         {"schedule resume weekly -o json", 0, `"changed": false`, ""},
	} {
		t.Run(situation, func(t *testing.T) {
			s := newSite(t)
			weekly := &refitv1alpha1.UpgradeSchedule{ObjectMeta: metav1.ObjectMeta{Name: "weekly"}}
			weekly.Spec.Cron, weekly.Spec.TimeZone, weekly.Spec.Channel.Follow = "0 1 * * 2", "Europe/Berlin", refitv1alpha1.FollowPatch
			weekly.Status.Target = &refitv1alpha1.ScheduleTarget{Kubernetes: "v1.35.6", Release: "kubernetes-v1.35.6", Message: "newer"}
			weekly.Status.Conditions = []metav1.Condition{{Type: refitv1alpha1.ConditionReady, Status: metav1.ConditionTrue}}
			if err := s.Create(t.Context(), weekly); err != nil {
				t.Fatal(err)
			}
			if code := s.refit(t, strings.Fields(c.args)...); code != c.code || !strings.Contains(s.out.String(), c.out) || !strings.Contains(s.err.String(), c.err) {
				t.Errorf("exit code %d, want %d:\n%s%s", code, c.code, s.out, s.err)
			}
			var list refitv1alpha1.UpgradeScheduleList
			if err := s.List(t.Context(), &list); err != nil {
				t.Fatal(err)
			}
			if list.Items[0].Spec.Suspend != (situation == "suspend") {
				t.Errorf("it is suspended: %v", list.Items[0].Spec.Suspend)
			}
		})
	}
}
