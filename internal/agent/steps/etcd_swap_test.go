package steps

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// errCrash stands for a killed agent: nothing of the step runs after it.
var errCrash = errors.New("killed")

// fakeControlPlane is a manifests directory whose kubelet and etcd behave as a test configures. It
// records each change, and each wait with the state of both manifests at that moment.
type fakeControlPlane struct {
	t               *testing.T
	etcd, apiServer staticPod
	log             []string
	// fail has the errors of waits and changes by their names; kill panics before or after a
	// change.
	fail map[string]error
	kill string
}

func newFakeControlPlane(t *testing.T) *fakeControlPlane {
	t.Helper()
	dir := t.TempDir()
	f := &fakeControlPlane{t: t, fail: map[string]error{}}
	f.etcd, f.apiServer = f.stage(dir, kubeadm.Etcd), f.stage(dir, kubeadm.APIServer)
	return f
}

func (f *fakeControlPlane) stage(dir, component string) staticPod {
	f.t.Helper()
	pod := staticPod{component: component, path: filepath.Join(dir, component+".yaml")}
	staged := filepath.Join(f.t.TempDir(), component)
	err := errors.Join(
		os.WriteFile(pod.path, []byte("old "+component), 0o600), os.WriteFile(staged, []byte("new "+component), 0o600),
		host.Stage(staged, pod.path, 0o600))
	if err != nil {
		f.t.Fatal(err)
	}
	pod.was, pod.will = digestOf([]byte("old "+component)), digestOf([]byte("new "+component))
	return pod
}

// run runs the step as the agent does: it returns errCrash if the test killed it.
func (f *fakeControlPlane) run(ctx context.Context) (err error) {
	defer func() {
		if killed := recover(); killed != nil {
			err = errCrash
		}
	}()
	return etcdSwap{
		pods: staticPods{host: f, effect: f.effect}, etcd: f.etcd, apiServer: f.apiServer, stopAPIServer: true,
		dial: f.dial,
	}.do(ctx)
}

func (f *fakeControlPlane) dial(context.Context) (etcdMember, error) {
	err := f.waits("dial")
	return f, err
}

func (f *fakeControlPlane) effect(name string, change func() error) error {
	f.point(name + ":before")
	if err := errors.Join(f.fail[name], change()); err != nil {
		return err
	}
	f.log = append(f.log, name)
	f.point(name + ":after")
	return nil
}

func (f *fakeControlPlane) point(name string) {
	if f.kill == name {
		f.kill = ""
		panic("killed at " + name)
	}
}

func (f *fakeControlPlane) waits(name string) error {
	f.log = append(f.log, name+" with etcd "+f.state(f.etcd)+", API server "+f.state(f.apiServer))
	return f.fail[name]
}

func (f *fakeControlPlane) state(pod staticPod) string {
	f.t.Helper()
	state, err := pod.state()
	if err != nil {
		f.t.Fatal(err)
	}
	return string(state)
}

func (f *fakeControlPlane) prepareSwap(context.Context) error { return f.fail["prepare"] }
func (f *fakeControlPlane) prove(context.Context) error       { return f.waits("prove") }
func (f *fakeControlPlane) mayStop(context.Context) error     { return f.waits("check") }
func (*fakeControlPlane) Close() error                        { return nil }

func (f *fakeControlPlane) awaitStopped(ctx context.Context, components []string) error {
	return errors.Join(f.fail["stop-"+components[0]], ctx.Err())
}

func (f *fakeControlPlane) secureQuorum(context.Context) (func() error, error) {
	return func() error { return nil }, f.waits("quorum")
}

func (f *fakeControlPlane) mustBe(etcd, apiServer host.SwapState) {
	f.t.Helper()
	if f.state(f.etcd) != string(etcd) || f.state(f.apiServer) != string(apiServer) {
		f.t.Errorf("etcd is %s and the API server is %s, want %s and %s\n%q",
			f.state(f.etcd), f.state(f.apiServer), etcd, apiServer, f.log)
	}
}

func TestSwapEtcdStopsTheAPIServerAfterTheQuorumIsSafe(t *testing.T) {
	f := newFakeControlPlane(t)
	if err := f.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"dial with etcd Old, API server Old", "quorum with etcd Old, API server Old",
		"remove-kube-apiserver", "check with etcd Old, API server Absent", "remove-etcd", "swap-etcd", "prove with etcd New, API server Absent",
	}
	if !slices.Equal(f.log, want) {
		t.Errorf("it did\n%q, want\n%q", f.log, want)
	}
	f.mustBe(host.New, host.Absent) // swap-apiserver follows
}

// points are all places of the step at which its agent can be killed.
var points = []string{
	"remove-kube-apiserver:before", "remove-kube-apiserver:after", "remove-etcd:before", "remove-etcd:after", "swap-etcd:before", "swap-etcd:after",
}

// killed is a host whose agent was killed at a point of the step.
func killed(t *testing.T, point string) *fakeControlPlane {
	t.Helper()
	f := newFakeControlPlane(t)
	f.kill = point
	if err := f.run(t.Context()); !errors.Is(err, errCrash) {
		t.Fatalf("it was not killed at %s: %v", point, err)
	}
	f.log = nil
	return f
}

func TestAPIServerRunsWhileAResumedSwapWaitsForEtcd(t *testing.T) {
	for _, point := range points {
		t.Run(point, func(t *testing.T) {
			f, etcd := killed(t, point), host.Old
			if point == "swap-etcd:after" {
				etcd = host.New
			}
			f.fail["dial"] = node.Transient("EtcdUnreachable", nil, "-", "no quorum")
			if err := f.run(t.Context()); err == nil {
				t.Error("the step succeeded without etcd")
			}
			want := "dial with etcd " + string(etcd) + ", API server Old"
			if !slices.Contains(f.log, want) {
				t.Errorf("it did %q, want %q", f.log, want)
			}
			f.mustBe(etcd, host.Old)
		})
	}
}

func TestAPIServerRunsWhileAResumedSwapWaitsForTheQuorum(t *testing.T) {
	for _, point := range points[:len(points)-1] { // after the last one etcd is New and needs no quorum
		t.Run(point, func(t *testing.T) {
			f := killed(t, point)
			f.fail["quorum"] = node.Transient("EtcdAlarm", nil, "-", "NOSPACE")
			if err := f.run(t.Context()); err == nil || !node.FailureOf(err).NoRollback {
				t.Errorf("the host would be rolled back: %v", err)
			}
			if want := "quorum with etcd Old, API server Old"; !slices.Contains(f.log, want) {
				t.Errorf("it did %q, want %q", f.log, want)
			}
			f.mustBe(host.Old, host.Old)
		})
	}
}

func TestResumedSwapSucceedsAfterEachKill(t *testing.T) {
	for _, point := range points {
		f := killed(t, point)
		for _, again := range []string{"restore-etcd:after", "restore-kube-apiserver:before", ""} {
			f.kill = again
			if err := f.run(t.Context()); err != nil && !errors.Is(err, errCrash) {
				t.Fatalf("%s: %v", point, err)
			}
		}
		f.kill = ""
		if err := f.run(t.Context()); err != nil {
			t.Fatalf("%s: %v", point, err)
		}
		if f.state(f.etcd) != string(host.New) {
			t.Errorf("%s: etcd is %s", point, f.state(f.etcd))
		}
	}
}

func TestAPIServerIsRestoredBeforeAFailureIsReported(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		situation, fail string
		etcd            host.SwapState
	}{
		{"the API server does not stop", "stop-kube-apiserver", host.Old},
		{"etcd cannot be stopped", "remove-etcd", host.Old},
		{"etcd does not stop", "stop-etcd", host.Old},
		{"the new manifest is written and not synced", "swap-etcd", host.New},
		{"the new etcd is unhealthy", "prove", host.New},
	} {
		t.Run(c.situation, func(t *testing.T) {
			f := newFakeControlPlane(t)
			f.fail[c.fail] = broken
			if err := f.run(t.Context()); !errors.Is(err, broken) {
				t.Errorf("error %v", err)
			}
			f.mustBe(c.etcd, host.Old)
		})
	}
}

func TestAPIServerIsRestoredWhenTheAgentStops(t *testing.T) {
	f := newFakeControlPlane(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	f.mustBe(host.Old, host.Old)
}

func TestUnsafeQuorumChangesNothing(t *testing.T) {
	f := newFakeControlPlane(t)
	f.fail["quorum"] = node.Transient("EtcdAlarm", nil, "-", "NOSPACE")
	err := f.run(t.Context())
	if err == nil || !node.FailureOf(err).NoRollback {
		t.Errorf("the host would be rolled back: %v", err)
	}
	f.mustBe(host.Old, host.Old)
}

func TestOldEtcdDoesNotReturnToDataThatTheNewOneHasUsed(t *testing.T) {
	f := newFakeControlPlane(t)
	if err := errors.Join(f.run(t.Context()), os.Remove(f.etcd.path)); err != nil {
		t.Fatal(err)
	}
	f.etcd.forwardOnly = true
	if err := f.run(t.Context()); err == nil {
		t.Error("the step succeeded without a manifest of etcd")
	}
	f.mustBe(host.Absent, host.Old)
}

// The lock can expire, and another member can fail, while the API server stops.
func TestQuorumIsCheckedAgainRightBeforeEtcdStops(t *testing.T) {
	f := newFakeControlPlane(t)
	f.fail["check"] = node.Transient("EtcdLocked", nil, "-", "the lock is lost")
	err := f.run(t.Context())
	if err == nil || !node.FailureOf(err).NoRollback || node.FailureOf(err).Reason != "EtcdLocked" {
		t.Errorf("the host would be rolled back: %v", err)
	}
	if slices.Contains(f.log, "remove-etcd") {
		t.Errorf("etcd was stopped: %q", f.log)
	}
	f.mustBe(host.Old, host.Old)
}
