package helm

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	rcommon "helm.sh/helm/v4/pkg/release/common"
	release "helm.sh/helm/v4/pkg/release/v1"
	"helm.sh/helm/v4/pkg/storage"
	"helm.sh/helm/v4/pkg/storage/driver"
	"k8s.io/client-go/kubernetes/fake"
)

// recording returns the session of an action, with a record.
func recording(t *testing.T, mark Mark, history ...*release.Release) *session {
	t.Helper()
	client := fake.NewClientset()
	s := &session{Release: Release{Namespace: "shop", Name: "app"}, ctx: t.Context()}
	s.secrets = &boundedSecrets{SecretInterface: client.CoreV1().Secrets("shop")}
	s.others = client.CoreV1().ConfigMaps("shop")
	store := storage.Init(driver.NewSecrets(s.secrets))
	for _, r := range history {
		must(t, store.Create(r))
	}
	s.driver = &markingDriver{Driver: driver.NewSecrets(s.secrets), mark: mark}
	s.store = storage.Init(s.driver)
	return s
}

// revisionOf returns a revision with a ConfigMap for each name.
func revisionOf(number int, status rcommon.Status, description string, names ...string) *release.Release {
	r := &release.Release{Name: "app", Namespace: "shop", Version: number, Info: &release.Info{Status: status, Description: description}}
	for _, name := range names {
		r.Manifest += fmt.Sprintf("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\n", name)
	}
	return r
}

func revisions(t *testing.T, s *session) (out []string) {
	t.Helper()
	history, err := s.history()
	must(t, err)
	for _, r := range history {
		out = append(out, fmt.Sprint(r.Version, " ", r.Info.Status))
	}
	return out
}

// TestAnActionThatFailsOftenDoesNotFillTheRecord: each attempt writes a revision.
func TestAnActionThatFailsOftenDoesNotFillTheRecord(t *testing.T) {
	mark := Mark{Operation: "a", Sequence: 7, Step: "wave-1"}
	adopted := Mark{Operation: "a", Sequence: 7, Step: "adopt"}
	former := Mark{Operation: "a", Sequence: 6, Step: "wave-1"}
	failed := mark.describe("a webhook denied the request")
	for situation, test := range map[string]struct {
		history []*release.Release
		want    []string
	}{
		"failed again": {
			[]*release.Release{
				revisionOf(1, rcommon.StatusFailed, former.describe("it failed"), "a"), revisionOf(2, rcommon.StatusDeployed, adopted.String(), "a"),
				revisionOf(3, rcommon.StatusFailed, failed, "a", "b"), revisionOf(4, rcommon.StatusFailed, failed, "a", "b"),
				revisionOf(5, rcommon.StatusFailed, failed, "a", "b"),
			},
			[]string{"1 failed", "2 deployed", "5 failed"},
		},
		"killed after a failure": {
			[]*release.Release{
				revisionOf(1, rcommon.StatusDeployed, adopted.String(), "a"), revisionOf(2, rcommon.StatusFailed, failed, "a", "b"),
				revisionOf(3, rcommon.StatusPendingUpgrade, mark.String(), "a", "b"),
			},
			[]string{"1 deployed", "3 failed"},
		},
		"with an object that only the older one has": {
			[]*release.Release{
				revisionOf(1, rcommon.StatusDeployed, adopted.String(), "a"), revisionOf(2, rcommon.StatusFailed, failed, "a", "random-1"),
				revisionOf(3, rcommon.StatusFailed, failed, "a", "random-2"),
			},
			[]string{"1 deployed", "2 failed", "3 failed"},
		},
		"a rollback that failed twice": {
			[]*release.Release{
				revisionOf(1, rcommon.StatusDeployed, adopted.String(), "a"), revisionOf(2, rcommon.StatusSuperseded, failed, "a"),
				revisionOf(3, rcommon.StatusFailed, failed, "a"),
			},
			[]string{"1 deployed", "3 failed"},
		},
		"completed before": {
			[]*release.Release{
				revisionOf(1, rcommon.StatusSuperseded, mark.String(), "a"), revisionOf(2, rcommon.StatusFailed, failed, "a"),
			},
			[]string{"1 superseded", "2 failed"},
		},
	} {
		t.Run(situation, func(t *testing.T) {
			s := recording(t, mark, test.history...)
			history, complete, err := s.begin(mark)
			if err != nil || complete {
				t.Fatalf("complete %v, %v", complete, err)
			}
			if got := revisions(t, s); !slices.Equal(got, test.want) || len(history) != len(got) {
				t.Errorf("the record has %q, want %q; the action reads %d revisions", got, test.want, len(history))
			}
		})
	}
}

// TestARevisionThatTheStepBeforeLeftPending: the step has ended, since the API server was down when
// Helm recorded its failure, and only its rollback comes after it.
func TestARevisionThatTheStepBeforeLeftPending(t *testing.T) {
	left := Mark{Operation: "a", Sequence: 7, Step: "wave-2"}
	for _, test := range []struct {
		mark    Mark
		unlocks bool
	}{
		{Mark{Operation: "a", Sequence: 7, Step: "undo-wave-2"}, true},
		{Mark{Operation: "a", Sequence: 8, Step: "undo-wave-2"}, false},
		{Mark{Operation: "b", Sequence: 7, Step: "undo-wave-2"}, false},
	} {
		s := recording(t, test.mark, revisionOf(1, rcommon.StatusDeployed, "Install complete", "a"), revisionOf(2, rcommon.StatusPendingUpgrade, left.String(), "a"))
		_, complete, err := s.begin(test.mark)
		_, pending := errors.AsType[*PendingError](err)
		if complete || pending == test.unlocks || err != nil && !pending {
			t.Errorf("%s: complete %v, %v", test.mark, complete, err)
		}
		want := []string{"1 deployed", "2 pending-upgrade"}
		if test.unlocks {
			want[1] = "2 failed"
		}
		if got := revisions(t, s); !slices.Equal(got, want) {
			t.Errorf("%s: the record has %q, want %q", test.mark, got, want)
		}
	}
}

// TestAnActionThatHasStarted: one that failed has started, too.
func TestAnActionThatHasStarted(t *testing.T) {
	first, last := Mark{Operation: "a", Sequence: 7, Step: "remove-first"}, Mark{Operation: "a", Sequence: 7, Step: "remove"}
	for _, test := range []struct {
		status      rcommon.Status
		description string
		want        bool
	}{
		{rcommon.StatusDeployed, first.String(), false},
		{rcommon.StatusFailed, first.describe("it failed"), false},
		{rcommon.StatusDeployed, last.String(), true},
		{rcommon.StatusPendingUpgrade, last.String(), true},
		{rcommon.StatusFailed, last.describe("a webhook denied the request"), true},
	} {
		s := recording(t, last, revisionOf(1, rcommon.StatusSuperseded, "Install complete", "a"), revisionOf(2, test.status, test.description))
		if got, err := s.started(last); err != nil || got != test.want {
			t.Errorf("%s %q: %v, %v", test.status, test.description, got, err)
		}
	}
}
