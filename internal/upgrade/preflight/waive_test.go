package preflight

import (
	"slices"
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// Without permission to read a part, nobody may disable a binding check by waiving the part.
func TestWaiverOfUnreadPartDoesNotDisableBindingChecks(t *testing.T) {
	for _, check := range Checks() {
		if !check.Binding() {
			continue
		}
		for _, part := range check.Needs {
			for _, object := range []string{string(part), ""} {
				t.Run(check.ID+"/"+string(part)+"/"+object, func(t *testing.T) {
					c := situation{change: unread(part, cluster.GapForbidden), spec: waiver(idPartUnreadable, object)}
					report := Run(c.input(t))
					at := slices.IndexFunc(report.Findings, func(f Finding) bool { return f.Check == idPartUnreadable && f.Object == string(part) })
					if at < 0 || report.Findings[at].Waived != nil || !report.Findings[at].Binding {
						t.Errorf("the finding was waived:\n%s", c.narrative(report.Findings))
					}
					if !slices.ContainsFunc(report.Findings, func(f Finding) bool { return f.Check == idWaiverRefused }) {
						t.Errorf("the refused waiver is not reported:\n%s", c.narrative(report.Findings))
					}
				})
			}
		}
	}
}

func TestWaiverOfUnreadPartThatNoBindingCheckNeeds(t *testing.T) {
	c := situation{change: unread(cluster.PartWebhooks, cluster.GapForbidden), spec: waiver(idPartUnreadable, "webhooks")}
	if report := Run(c.input(t)); report.Blocked() || report.Summary.Waived != 1 {
		t.Errorf("got %+v", report.Summary)
	}
}

func TestFindingsAreBindingLikeTheirChecks(t *testing.T) {
	for _, c := range situations() {
		for _, f := range Run(c.input(t)).Findings {
			if f.Check != idPartUnreadable && f.Binding != find(f.Check).Binding() {
				t.Errorf("%s/%s: %s is binding: %t", c.check, c.name, f.Check, f.Binding)
			}
		}
	}
}

func TestTablesNameExistingChecks(t *testing.T) {
	for object, ids := range checksByObject {
		for _, id := range ids {
			if find(id).ID == "" {
				t.Errorf("%s: check %s does not exist", object, id)
			}
		}
	}
	for id := range knownWithoutAgent {
		if !find(id).NeedsAgent() {
			t.Errorf("%s does not need an agent, or does not exist", id)
		}
	}
}

func TestAgentMissingListsUnansweredChecks(t *testing.T) {
	for _, c := range []struct {
		name       string
		change     change
		unanswered []string
		answered   []string
		withAgent  bool
	}{
		{
			name: "everything else was read", unanswered: []string{"EtcdAlarm", "DiskTooSmall", "RemovedKubeletFlag"},
			answered: []string{"APIServerNotReady", "APIServerUnknown", "StaticPodMissing", "CRIRuntimeConfigMissing"},
		},
		{
			name: "the readiness of an API server is unknown", unanswered: []string{"APIServerNotReady", "APIServerUnknown"},
			change: func(s *snapshot) { s.APIServers[0].Ready = cluster.Unknown },
		},
		{
			name: "only a worker has no agent", withAgent: true, unanswered: []string{"DiskTooSmall"}, answered: []string{"EtcdAlarm", "APIServerUnknown"},
			change: onWorker(func(n *cluster.Node) { n.Report = nil }),
		},
		{
			name: "external etcd", unanswered: []string{"DiskTooSmall", "EtcdAlarm", "EtcdLearner", "EtcdExternalTooOld"},
			change: func(s *snapshot) {
				s.Kubeadm.ExternalEtcd = true
				for i := range 3 {
					delete(s.Nodes[i].Static, "etcd")
				}
			},
		},
		{
			name: "another container runtime", unanswered: []string{"CRIRuntimeConfigMissing"},
			change: onWorker(func(n *cluster.Node) { n.Runtime = "cri-o://1.30.0" }),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := situation{check: idAgentMissing, bare: !c.withAgent, change: c.change}
			found := at.found(t)
			if len(found) != 1 {
				t.Fatalf("got %+v", found)
			}
			_, list, _ := strings.Cut(found[0].Message, "unanswered: ")
			got := strings.Split(list, ", ")
			for _, id := range c.unanswered {
				if !slices.Contains(got, id) {
					t.Errorf("%s is not listed: %s", id, list)
				}
			}
			for _, id := range c.answered {
				if slices.Contains(got, id) {
					t.Errorf("%s is listed: %s", id, list)
				}
			}
		})
	}
}

func TestUnansweredChecksAreCountedSeparately(t *testing.T) {
	c := situation{change: unread(cluster.PartHelm, cluster.GapForbidden)}
	if got := Run(c.input(t)).Summary; got.Unanswered != len(needing(cluster.PartHelm)) || got.Checks+got.Unanswered != len(checks) {
		t.Errorf("got %+v", got)
	}
	nothing := situation{}
	if got := Run(nothing.input(t)).Summary; got.Unanswered != 0 || got.Checks != len(checks) {
		t.Errorf("all parts were read: %+v", got)
	}
}
