package steps

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/engine/etcd"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// fakeQuorum records the calls, and fails as a test configures.
type fakeQuorum struct {
	log           []string
	others, check error
	queries       int
	fails         int // the number of the check of the other members that fails; 0 for none
	down          bool
}

func (f *fakeQuorum) OthersServe(context.Context) error {
	f.log = append(f.log, "others")
	if f.fails--; f.fails == 0 {
		return node.Transient("EtcdNoQuorum", nil, "-", "another member is down")
	}
	return f.others
}
func (f *fakeQuorum) Check(context.Context) error { f.log = append(f.log, "lock"); return f.check }
func (f *fakeQuorum) Facts(context.Context) (*refitv1alpha1.EtcdFacts, error) {
	f.queries++
	if f.queries < 3 {
		return nil, errors.New("connection refused")
	}
	return &refitv1alpha1.EtcdFacts{Healthy: !f.down}, nil
}
func (f *fakeQuorum) Close() error { f.log = append(f.log, "close"); return nil }

func withQuorum(t *testing.T, f *fakeQuorum) *Host {
	t.Helper()
	h := testHost(t)
	h.Settings = settings.Default()
	h.quorum = &quorum{client: f, lock: f}
	return h
}

func TestRestartOfEtcdIsCheckedRightBefore(t *testing.T) {
	broken := node.Transient("Broken", nil, "-", "broken")
	for situation, f := range map[string]*fakeQuorum{
		"healthy": {}, "another member is unhealthy": {others: broken}, "the lock is lost": {check: broken},
	} {
		h := withQuorum(t, f)
		err := h.mayRestartEtcd(t.Context())
		if healthy := f.others == nil && f.check == nil; healthy != (err == nil) || (err != nil && node.FailureOf(err).NoRollback) {
			t.Errorf("%s: %v", situation, err)
		}
		h.ReleaseQuorum()
		h.ReleaseQuorum()
		if f.log[0] != "others" || f.log[len(f.log)-1] != "close" || h.quorum != nil {
			t.Errorf("%s: %q", situation, f.log)
		}
		must(t, h.mayRestartEtcd(t.Context())) // a worker, or the only member
	}
}

func TestEtcdIsNotStoppedShortlyBeforeTheStepEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := withQuorum(t, &fakeQuorum{})
		ctx, cancel := context.WithTimeout(t.Context(), h.Settings.Timeouts.Etcd.Duration())
		defer cancel()
		must(t, h.mayRestartEtcd(ctx))
		time.Sleep(time.Second)
		if err := h.mayRestartEtcd(ctx); err == nil || node.FailureOf(err).Reason != "EtcdTooLate" {
			t.Errorf("error %v", err)
		}
	})
}

func TestLockIsHeldUntilEtcdIsHealthyAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeQuorum{}
		must(t, withQuorum(t, f).awaitEtcd(t.Context()))
		if f.queries != 3 {
			t.Errorf("%d queries", f.queries)
		}
		if err := withQuorum(t, &fakeQuorum{down: true}).awaitEtcd(t.Context()); err == nil || node.FailureOf(err).Reason != "EtcdUnhealthy" {
			t.Errorf("error %v", err)
		}
		must(t, testHost(t).awaitEtcd(t.Context()))
	})
}

func TestWorkerNeedsNoQuorum(t *testing.T) {
	h := testHost(t)
	must(t, secureMember(t.Context(), h))
	h.Upgrade.Etcd = true
	if err := secureMember(t.Context(), h); err == nil || h.quorum != nil {
		t.Error("a host without a saved manifest was secured")
	}
	if err := inOrder(secureMember, func(context.Context, *Host) error { return errors.New("not reached") })(t.Context(), h); err == nil || err.Error() == "not reached" {
		t.Errorf("error %v", err)
	}
}

// unreachableEtcd is a client of a member that does not answer.
func unreachableEtcd(t *testing.T) *etcd.Client {
	t.Helper()
	client, err := etcd.Dial(etcd.Config{Endpoints: []string{"http://127.0.0.1:1"}})
	must(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// A member that does not answer has no part in the quorum, but a wait that was interrupted has not
// heard of it.
func TestInterruptedWaitDoesNotTakeTheMemberForDown(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if q, err := testHost(t).secure(ctx, unreachableEtcd(t)); err == nil || q != nil {
		t.Errorf("the member may restart: %v, %v", q, err)
	}
}

// The age of a wait tells whether manual intervention is required.
func TestFailedLockDoesNotEndTheReportedWait(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h := testHost(t)
	h.ReportWait = func(reason string) { t.Errorf("reported %q", reason) }
	if _, err := h.lockEtcd(ctx, unreachableEtcd(t)); err == nil {
		t.Error("no error")
	}
}

// An order can arrive between the wait for the lock and the step, and permit nothing.
func TestAgentThatRestsHoldsNoLock(t *testing.T) {
	f := &fakeQuorum{}
	h := withQuorum(t, f)
	h.ReleaseLocks()
	if h.quorum != nil || len(f.log) == 0 {
		t.Errorf("other hosts wait for this one: %q", f.log)
	}
}
