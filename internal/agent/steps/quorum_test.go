package steps

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/settings"
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
