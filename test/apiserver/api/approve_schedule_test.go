//go:build apiserver

package api

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/refit-dev/refit/test/apiserver"
)

const mayNotSchedule = "olga may not let a schedule run plans without approval: spec.template.approval None, and changes of the spec with it, " +
	"require the verb approve on clusterupgrades.refit.dev"

// TestApprovingASchedule has two users: Olga is an operator, Anna an approver.
func TestApprovingASchedule(t *testing.T) {
	noApproval := fields{"spec.template": object{"approval": "None"}}
	waiver := list{object{"check": "pdb", "reason": "known"}}
	tests := []struct {
		situation string
		was       fields // nil: it is created
		now       fields
		refused   bool // for Olga
	}{
		{"a schedule", nil, fields{}, false},
		{"a schedule without approval", nil, noApproval, true},
		{"a change", fields{}, fields{"spec.cron": "0 3 * * *"}, false},
		{"a waiver", fields{}, fields{"spec.template.waivers": waiver}, false},
		{"no approval any more", fields{}, fields{"spec.template.approval": "None"}, true},
		{"approval again", noApproval, fields{"spec.template.approval": "Required"}, false},
		{"approval by default", noApproval, fields{"spec.template.approval": nil}, false},
		{"another time without approval", noApproval, fields{"spec.cron": "0 3 * * *"}, true},
		{"another channel without approval", noApproval, fields{"spec.channel.follow": "Minor"}, true},
		{"a waiver without approval", noApproval, fields{"spec.template.waivers": waiver}, true},
		{"no node selector any more", fields{"spec.template": object{"approval": "None", "nodeSelector": object{"a": "b"}}}, fields{"spec.template.nodeSelector": nil}, true},
		{"a longer deadline without approval", noApproval, fields{"spec.startingDeadline": "2h"}, true},
		{"a time instead of the expression", noApproval, fields{"spec.cron": nil, "spec.at": now}, true},
		{"suspended without approval", noApproval, fields{"spec.suspend": true}, false},
		{"resumed without approval", fields{"spec.template": object{"approval": "None"}, "spec.suspend": true}, fields{"spec.suspend": false}, false},
		{"a label without approval", noApproval, fields{"metadata.labels": object{"a": "b"}}, false},
	}
	apiserver.EachVersion(t, func(t *testing.T, version string) {
		s := serverOf(t, version)
		bind(t, s, "olga", "refit-operator")
		bind(t, s, "anna", "refit-approver")
		olga, anna := objects(t, s.As(t, "olga"), "UpgradeSchedule"), objects(t, s.As(t, "anna"), "UpgradeSchedule")
		for _, tt := range tests {
			t.Run(tt.situation, func(t *testing.T) {
				var stored *unstructured.Unstructured
				if tt.was != nil {
					stored = made(t, s, changed(t, smallest("UpgradeSchedule", "nightly"), tt.was))
				}
				try := func(client dynamic.ResourceInterface) error {
					if stored == nil {
						wanted := &unstructured.Unstructured{Object: changed(t, smallest("UpgradeSchedule", "nightly"), tt.now)}
						_, err := client.Create(t.Context(), wanted, metav1.CreateOptions{DryRun: dryRun})
						return err
					}
					wanted := &unstructured.Unstructured{Object: changed(t, stored.Object, tt.now)}
					_, err := client.Update(t.Context(), wanted, metav1.UpdateOptions{DryRun: dryRun})
					return err
				}
				if tt.refused {
					refusedFor(t, "Olga", try(olga), mayNotSchedule)
				} else {
					letThrough(t, "Olga", try(olga))
				}
				letThrough(t, "Anna", try(anna))
			})
		}
	})
}
