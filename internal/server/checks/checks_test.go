package checks

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

var spec = refitv1alpha1.ClusterUpgradeSpec{Target: refitv1alpha1.Target{Kubernetes: "v1.36.3"}}

func start(t *testing.T, r *Registry, owner string, run Run) Check {
	t.Helper()
	c, err := r.Start(owner, spec, run)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func report(context.Context, func(string)) (*cliv1alpha1.Report, error) {
	return &cliv1alpha1.Report{Blocked: true}, nil
}

func untilEnd(ctx context.Context, part func(string)) (*cliv1alpha1.Report, error) {
	part("pods")
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestACheckIsForItsOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(time.Now)
		defer r.Close()
		c := start(t, r, "kim", report)
		got, found := r.Wait(t.Context(), "kim", c.ID)
		if !found || !got.Complete() || !got.Report.Blocked || got.Spec.Target != spec.Target {
			t.Errorf("the check is %+v", got)
		}
		if _, found := r.Get("lee", c.ID); found {
			t.Error("another user reads the check")
		}
		time.Sleep(keepFor)
		if _, found := r.Get("kim", c.ID); found {
			t.Error("the check is kept for longer")
		}
	})
}

func TestChecksAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(time.Now)
		defer r.Close()
		first := start(t, r, "kim", untilEnd)
		start(t, r, "lee", untilEnd)
		if _, err := r.Start("kim", spec, report); !errors.Is(err, ErrBusy) {
			t.Errorf("a third check at once: %v", err)
		}
		limited, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := r.StartWhenFree(limited, "kim", spec, report); !errors.Is(err, ErrBusy) {
			t.Errorf("a third check that waits: %v", err)
		}
		if got, _ := r.Get("kim", first.ID); got.Complete() || got.Part != "pods" {
			t.Errorf("the check is %+v", got)
		}
		if c, err := r.StartWhenFree(t.Context(), "kim", spec, report); err != nil || time.Since(first.Start) != deadline {
			t.Errorf("a check after the deadline of others: %+v, %v after %s", c, err, time.Since(first.Start))
		}
		if got, _ := r.Wait(t.Context(), "kim", first.ID); !errors.Is(got.Err, ErrTimeout) {
			t.Errorf("the check is %+v", got)
		}
	})
}

func TestFewChecksAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(time.Now)
		defer r.Close()
		other := start(t, r, "lee", report)
		var all []Check
		for range mostOfOwner + 1 {
			all = append(all, start(t, r, "kim", report))
			synctest.Wait()
		}
		if _, found := r.Get("kim", all[0].ID); found {
			t.Error("the oldest check is kept")
		}
		if _, found := r.Get("kim", all[1].ID); !found {
			t.Error("a newer check is gone")
		}
		if _, found := r.Get("lee", other.ID); !found {
			t.Error("the check of another owner is gone")
		}
	})
}

func TestChecksEndWithTheRegistry(t *testing.T) {
	r := New(time.Now)
	c := start(t, r, "kim", untilEnd)
	r.Close()
	if got, _ := r.Get("kim", c.ID); !got.Complete() || !errors.Is(got.Err, context.Canceled) {
		t.Errorf("the check is %+v", got)
	}
	if _, err := r.Start("kim", spec, report); err == nil {
		t.Error("a check starts after the end")
	}
}

func TestACheckThatPanicsFails(t *testing.T) {
	r := New(time.Now)
	defer r.Close()
	c := start(t, r, "kim", func(context.Context, func(string)) (*cliv1alpha1.Report, error) { panic("no plan") })
	got, _ := r.Wait(t.Context(), "kim", c.ID)
	if panicked, is := errors.AsType[*PanicError](got.Err); !is || panicked.Cause != "no plan" || panicked.Stack == "" {
		t.Errorf("the check is %+v", got)
	}
	if got, _ = r.Wait(t.Context(), "kim", start(t, r, "kim", report).ID); got.Report == nil {
		t.Errorf("the next check is %+v", got)
	}
}
