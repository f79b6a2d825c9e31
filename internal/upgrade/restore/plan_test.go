package restore

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// F44: informers of API servers and kubelets must list again, so the revision is bumped and marked
// as compacted.
func TestF44RestoredRevisionIsBumpedAndCompacted(t *testing.T) {
	run := NewRun(now)
	args := Snapshot(Plan{Run: run, Revision: 100, Member: "cp-2", Members: lost(3).Backup.Members}, "/b.db", "/new")
	for _, want := range []string{
		"--bump-revision=1777863599999900", "--mark-compacted", "--initial-cluster-token=refit-restore-1777863600000000", "--name=cp-2",
		"--initial-cluster=cp-3=https://10.0.0.3:2380,cp-1=https://10.0.0.1:2380,cp-2=https://10.0.0.2:2380",
		"--initial-advertise-peer-urls=https://10.0.0.2:2380", "--data-dir=/new",
	} {
		if !slices.Contains(args, want) {
			t.Errorf("%s is missing in %v", want, args)
		}
	}
}

// F44: the API server stops before etcd, and starts after it.
func TestF44APIServerStopsFirstAndStartsLast(t *testing.T) {
	for _, s := range []Situation{Single, Replace, All} {
		var names []string
		for _, step := range Steps(s) {
			names = append(names, step.Name)
		}
		at := func(name string) int { return slices.Index(names, name) }
		if at(StopAPIServer) > at(StopEtcd) || at(StopEtcd) > at(MoveData) || at(RestoreData) > at(StopAPIServer) || at(StartAPIServer) != len(names)-1 {
			t.Errorf("%s: %v", s, names)
		}
	}
}

func TestNextFollowsTheJournal(t *testing.T) {
	var records []node.Record
	for _, want := range Steps(All) {
		records = append(records, node.Record{Kind: node.Started, Step: want.Name})
		if got, ok := Next(All, records); !ok || got.Name != want.Name {
			t.Errorf("after %d records: %q, want %q", len(records), got.Name, want.Name)
		}
		records = append(records, node.Record{Kind: node.Failed, Step: want.Name}, node.Record{Kind: node.Done, Step: want.Name})
	}
	if got, ok := Next(All, records); ok {
		t.Errorf("%q follows the last step", got.Name)
	}
}

func TestCommandOfTheNextHost(t *testing.T) {
	p := Plan{Run: NewRun(now), Situation: All, Backup: "u/1", Digest: "sha256:d", Members: lost(3).Backup.Members, Member: "cp-1", Options: []string{"--identity=k"}}
	if p.Quorum() || !slices.Equal(p.Remaining(), []string{"cp-2", "cp-3"}) {
		t.Errorf("after the first host: quorum %t, remaining %v", p.Quorum(), p.Remaining())
	}
	want := "refit-agent restore --backup=u/1 --digest=sha256:d --run=" + p.Run.String() + " --after=cp-1 --identity=k"
	if got := strings.Join(p.Next(), " "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	p.Member, p.After = "cp-2", []string{"cp-1"}
	if !p.Quorum() || !slices.Equal(p.Remaining(), []string{"cp-3"}) {
		t.Errorf("after the second host: quorum %t, remaining %v", p.Quorum(), p.Remaining())
	}
	p.Member, p.After = "cp-3", []string{"cp-1", "cp-2"}
	if !p.Quorum() || len(p.Remaining()) > 0 {
		t.Errorf("after the last host: quorum %t, remaining %v", p.Quorum(), p.Remaining())
	}
}

func TestRunOfAnotherHost(t *testing.T) {
	run := NewRun(now)
	if got, err := ParseRun(run.String(), now); err != nil || got != run {
		t.Errorf("%v %v", got, err)
	}
	for _, text := range []string{"", "x", "12", "-5", NewRun(now.AddDate(1, 0, 0)).String()} {
		if _, err := ParseRun(text, now); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

func TestLostChanges(t *testing.T) {
	o := lost(1, func(o *Observation) { o.Host.Revision = 142 })
	if got := strings.Join(Lost(o), "\n"); !strings.Contains(got, "42 revisions") {
		t.Error(got)
	}
}

// F44: a second restore may use an older backup than the first one.
func TestF44RevisionsRiseFromRestoreToRestore(t *testing.T) {
	first, second := NewRun(now), NewRun(now.Add(time.Hour))
	if a, b := 50_000_000+first.Bump(50_000_000)+20_000_000, 10_000_000+second.Bump(10_000_000); b <= a {
		t.Errorf("the second restore serves revision %d after clients have seen %d", b, a)
	}
}
