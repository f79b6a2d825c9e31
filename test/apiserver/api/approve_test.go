//go:build apiserver

package api

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/refit-dev/refit/test/apiserver"
)

const (
	mayNotApprove = "olga may not approve a plan: setting spec.approvedPlan requires the verb approve on clusterupgrades.refit.dev"
	mayNotWaive   = "olga may not run a plan without approval: spec.approval None, and changes of waivers, pools, backup or window with it, " +
		"require the verb approve on clusterupgrades.refit.dev"
	mayNotAbandon = "olga may not abandon nodes: a change of spec.abandonedNodes requires the verb approve on clusterupgrades.refit.dev"
	mayNotOpen    = "olga may not open the window: setting spec.openUntil requires the verb approve on clusterupgrades.refit.dev"
)

// TestApproving has two users: Olga is an operator, Anna an approver.
func TestApproving(t *testing.T) {
	some := fields{"spec.pools": list{pool("gpu", "maxUnavailable", "50%")}}
	waiver := fields{"spec.waivers": list{object{"check": "pdb", "reason": "known"}}}
	noApproval := fields{"spec.approval": "None"}
	approved := fields{"spec.approvedPlan": hashA}
	abandoned := fields{"spec.abandonedNodes": list{"worker-1"}}
	backup := fields{"spec.backup": object{"drill": "Restore"}}
	tests := []struct {
		situation string
		was       fields // nil: it is created
		now       fields
		refused   string // the error that Olga gets
	}{
		{"asks", nil, fields{}, ""},
		{"asks, and approves at once", nil, approved, mayNotApprove},
		{"asks for an upgrade without approval", nil, noApproval, mayNotWaive},
		{"asks with an empty approval", nil, fields{"spec.approvedPlan": ""}, ""},
		{"approves", fields{}, approved, mayNotApprove},
		{"approves another plan", approved, fields{"spec.approvedPlan": hashB}, mayNotApprove},
		{"leaves the approval as it is", approved, fields{"spec.paused": true}, ""},
		{"withdraws the approval", approved, fields{"spec.approvedPlan": ""}, ""},
		{"takes the approval out", approved, fields{"spec.approvedPlan": nil}, ""},
		{"changes pools of an approved plan, which then needs another approval", approved, some, ""},
		{"wants no approval any more", fields{}, noApproval, mayNotWaive},
		{"wants approval again", noApproval, fields{"spec.approval": "Required"}, ""},
		{"leaves approval out, which brings it back", noApproval, fields{"spec.approval": nil}, ""},
		{"pauses without approval", noApproval, fields{"spec.paused": true}, ""},
		{"retries without approval", noApproval, fields{"spec.retry": int64(1)}, ""},
		{"aborts without approval", noApproval, fields{"spec.aborted": true}, ""},
		{"changes pools where nobody looks again", noApproval, some, mayNotWaive},
		{"sets a finding aside where nobody looks again", noApproval, waiver, mayNotWaive},
		{"changes the backup where nobody looks again", noApproval, backup, mayNotWaive},
		{"changes the backup", fields{}, backup, ""},
		{"changes the window where nobody looks again", noApproval, fields{"spec.window": "nights"}, mayNotWaive},
		{"changes the window", fields{}, fields{"spec.window": "nights"}, ""},
		{"opens the window", approved, fields{"spec.openUntil": now}, mayNotOpen},
		{"asks, and opens the window at once", nil, fields{"spec.openUntil": now}, mayNotOpen},
		{"closes the window again", fields{"spec.openUntil": now}, fields{"spec.openUntil": nil}, ""},
		{"pauses while the window is opened", fields{"spec.openUntil": now}, fields{"spec.paused": true}, ""},
		{"asks, and abandons a node at once", nil, abandoned, mayNotAbandon},
		{"abandons a node", approved, abandoned, mayNotAbandon},
		{"abandons a node without approval", noApproval, abandoned, mayNotAbandon},
		{"abandons another node", abandoned, fields{"spec.abandonedNodes": list{"worker-1", "worker-2"}}, mayNotAbandon},
		{"takes an abandoned node back", abandoned, fields{"spec.abandonedNodes": nil}, mayNotAbandon},
		{"pauses an operation with an abandoned node", abandoned, fields{"spec.paused": true}, ""},
		{"pauses", fields{}, fields{"spec.paused": true}, ""},
		{"changes pools", fields{}, some, ""},
		{"sets a finding aside", fields{}, waiver, ""},
	}
	apiserver.EachVersion(t, func(t *testing.T, version string) {
		s := serverOf(t, version)
		bind(t, s, "olga", "refit-operator")
		bind(t, s, "anna", "refit-approver")
		bind(t, s, "anna", "refit-operator") // so that she can create, too
		olga, anna := objects(t, s.As(t, "olga"), "ClusterUpgrade"), objects(t, s.As(t, "anna"), "ClusterUpgrade")
		admin := objects(t, s.RESTConfig(), "ClusterUpgrade")
		for _, tt := range tests {
			t.Run(tt.situation, func(t *testing.T) {
				var stored *unstructured.Unstructured
				if tt.was != nil {
					stored = made(t, s, changed(t, smallest("ClusterUpgrade", "op"), tt.was))
				}
				try := func(client dynamic.ResourceInterface) error {
					if stored == nil {
						wanted := &unstructured.Unstructured{Object: changed(t, smallest("ClusterUpgrade", "op"), tt.now)}
						_, err := client.Create(t.Context(), wanted, metav1.CreateOptions{DryRun: dryRun})
						return err
					}
					wanted := &unstructured.Unstructured{Object: changed(t, stored.Object, tt.now)}
					_, err := client.Update(t.Context(), wanted, metav1.UpdateOptions{DryRun: dryRun})
					return err
				}
				if tt.refused == "" {
					letThrough(t, "Olga", try(olga))
				} else {
					refusedFor(t, "Olga", try(olga), tt.refused)
				}
				letThrough(t, "Anna", try(anna))
				letThrough(t, "an administrator", try(admin))
			})
		}
	})
}

// TestApprovingOneByName proves that the permission to approve one operation does not cover
// another.
func TestApprovingOneByName(t *testing.T) {
	s := serverOf(t, apiserver.Versions(t)[0])
	role(t, s, "test-approve-one", []string{"approve"}, "clusterupgrades", "this")
	bind(t, s, "olga", "refit-operator")
	bind(t, s, "olga", "test-approve-one")
	olga := objects(t, s.As(t, "olga"), "ClusterUpgrade")
	for name, refused := range map[string]string{"this": "", "that": mayNotApprove} {
		stored := made(t, s, smallest("ClusterUpgrade", name))
		wanted := &unstructured.Unstructured{Object: with(t, stored.Object, "spec.approvedPlan", hashA)}
		_, err := olga.Update(t.Context(), wanted, metav1.UpdateOptions{DryRun: dryRun})
		if refused == "" {
			letThrough(t, name, err)
		} else {
			refusedFor(t, name, err, refused)
		}
	}
}
