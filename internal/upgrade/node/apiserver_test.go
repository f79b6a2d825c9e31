package node

import (
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestAPIServerMayBeStoppedOnlyBetweenItsTwoSteps(t *testing.T) {
	step := func(kind Kind, name string) Record { return Record{Kind: kind, Step: name} }
	for _, c := range []struct {
		situation string
		records   []Record
		want      bool
	}{
		{"certificates were renewed", []Record{step(Started, StepCertificates), step(Done, StepCertificates)}, false},
		{"swap-etcd has started", []Record{step(Started, StepEtcd)}, true},
		{"swap-etcd has failed", []Record{step(Started, StepEtcd), step(Failed, StepEtcd)}, true},
		{"swap-etcd is done", []Record{step(Started, StepEtcd), step(Done, StepEtcd)}, true},
		{"a rollback keeps the new etcd", []Record{step(Done, StepEtcd), {Kind: RollbackStarted}, step(Kept, StepEtcd)}, true},
		{"swap-apiserver has started", []Record{step(Done, StepEtcd), step(Started, StepAPIServer)}, true},
		{"swap-apiserver has started, and etcd is external", []Record{step(Started, StepAPIServer)}, true},
		{"swap-apiserver is done", []Record{step(Done, StepEtcd), step(Done, StepAPIServer)}, false},
		{"the upgrade has finished", []Record{step(Done, StepEtcd), {Kind: Finished, Outcome: refitv1alpha1.NodeRolledBack}}, false},
	} {
		opened := Record{Kind: Opened, Upgrade: &Upgrade{Role: refitv1alpha1.RoleControlPlane, Etcd: true}}
		if got := Read(append([]Record{opened}, c.records...)).APIServerStopped(); got != c.want {
			t.Errorf("%s: %v, want %v", c.situation, got, c.want)
		}
	}
}

func TestStepIsOpenUntilItsEnd(t *testing.T) {
	for situation, tt := range map[string]struct {
		since []Kind
		want  bool
	}{
		"not started": {nil, false}, "started": {[]Kind{Started}, true}, "failed": {[]Kind{Started, Failed}, true},
		"done": {[]Kind{Started, Done}, false}, "the upgrade has finished": {[]Kind{Started, Failed, Finished}, false},
	} {
		var records []Record
		for _, kind := range tt.since {
			records = append(records, Record{Kind: kind, Step: StepControllers, Outcome: refitv1alpha1.NodeRolledBack})
		}
		if got := Read(records).IsOpen(StepControllers); got != tt.want {
			t.Errorf("%s: %t", situation, got)
		}
	}
}
