package preflight

import (
	"slices"
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// Whoever may not read something must not be able to waive the checks that nobody can waive by waiving that.
func TestWaiverOfAnUnreadPartDoesNotSwitchBindingChecksOff(t *testing.T) {
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
						t.Errorf("it was set aside:\n%s", c.story(report.Findings))
					}
					if !slices.ContainsFunc(report.Findings, func(f Finding) bool { return f.Check == idWaiverRefused }) {
						t.Errorf("nobody says that it was refused:\n%s", c.story(report.Findings))
					}
				})
			}
		}
	}
}

func TestWaiverOfAnUnreadPartThatNoBindingCheckNeeds(t *testing.T) {
	c := situation{change: unread(cluster.PartWebhooks, cluster.GapForbidden), spec: waiver(idPartUnreadable, "webhooks")}
	if report := Run(c.input(t)); report.Blocked() || report.Summary.Waived != 1 {
		t.Errorf("got %+v", report.Summary)
	}
}

// A finding knows itself whether it can be waived, so that nobody offers what would be refused.
func TestFindingsSayWhetherTheyCanBeWaived(t *testing.T) {
	for _, c := range situations() {
		for _, f := range Run(c.input(t)).Findings {
			if f.Check != idPartUnreadable && f.Binding != find(f.Check).Binding() {
				t.Errorf("%s/%s: %s is binding: %t", c.check, c.name, f.Check, f.Binding)
			}
		}
	}
}

// The checks that are said to wait for an object, or to be told by somebody else than the agent, are checks that there are.
func TestTablesNameChecksThatThereAre(t *testing.T) {
	for object, ids := range readFrom {
		for _, id := range ids {
			if find(id).ID == "" {
				t.Errorf("%s: there is no check %s", object, id)
			}
		}
	}
	for id := range toldElsewhere {
		if !find(id).NeedsHost() {
			t.Errorf("%s does not need a host, or is no check", id)
		}
	}
}

// Only checks that lack facts are said to wait for agents.
func TestChecksThatWaitForAgents(t *testing.T) {
	for _, c := range []struct {
		name      string
		change    change
		waits     []string
		waitsNot  []string
		withAgent bool
	}{
		{
			name: "everything else was read", waits: []string{"EtcdAlarm", "DiskTooSmall", "RemovedKubeletFlag"},
			waitsNot: []string{"APIServerNotReady", "APIServerUnknown", "StaticPodMissing", "CRIRuntimeConfigMissing"},
		},
		{
			name: "an API server could not be asked", waits: []string{"APIServerNotReady", "APIServerUnknown"},
			change: func(s *snapshot) { s.APIServers[0].Ready = cluster.Unknown },
		},
		{
			name: "only a worker has no agent", withAgent: true, waits: []string{"DiskTooSmall"}, waitsNot: []string{"EtcdAlarm", "APIServerUnknown"},
			change: onWorker(func(n *cluster.Node) { n.Report = nil }),
		},
		{
			name: "etcd is somebody else's", waits: []string{"DiskTooSmall"}, waitsNot: []string{"EtcdAlarm", "EtcdLearner"},
			change: func(s *snapshot) {
				s.Kubeadm.ExternalEtcd = true
				for i := range 3 {
					delete(s.Nodes[i].Static, "etcd")
				}
			},
		},
		{
			name: "another container runtime", waits: []string{"CRIRuntimeConfigMissing"},
			change: onWorker(func(n *cluster.Node) { n.Runtime = "cri-o://1.30.0" }),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := situation{check: idAgentMissing, bare: !c.withAgent, change: c.change}
			found := at.found(t)
			if len(found) != 1 {
				t.Fatalf("got %+v", found)
			}
			_, list, _ := strings.Cut(found[0].Message, "wait: ")
			got := strings.Split(list, ", ")
			for _, id := range c.waits {
				if !slices.Contains(got, id) {
					t.Errorf("%s is not among them: %s", id, list)
				}
			}
			for _, id := range c.waitsNot {
				if slices.Contains(got, id) {
					t.Errorf("%s is among them: %s", id, list)
				}
			}
		})
	}
}

func TestUnansweredChecksAreNotCountedAsMade(t *testing.T) {
	c := situation{change: unread(cluster.PartHelm, cluster.GapForbidden)}
	if got := Run(c.input(t)).Summary; got.Unanswered != len(needing(cluster.PartHelm)) || got.Checks+got.Unanswered != len(checks) {
		t.Errorf("got %+v", got)
	}
	nothing := situation{}
	if got := Run(nothing.input(t)).Summary; got.Unanswered != 0 || got.Checks != len(checks) {
		t.Errorf("everything was read: %+v", got)
	}
}
