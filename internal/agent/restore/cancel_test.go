package restore

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/internal/upgrade/restore"
)

// cancel runs the command on a host, and reports whether it died at the point.
func (m *machine) cancel(t *testing.T, dieAt string) (c Canceled, died bool) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(dead); !ok {
				panic(r)
			}
			c.Restore.Close()
			died = true
		}
	}()
	c, err := m.desk(t, dieAt).PrepareCancel(t.Context())
	must(t, err)
	if c.Final != "" {
		return c, false
	}
	must(t, c.Restore.Begin())
	defer c.Restore.Close()
	must(t, c.Restore.Cancel(t.Context()))
	return c, false
}

// hasOld fails the test unless the host is as before the restore.
func (m *machine) hasOld(t *testing.T, before string) {
	t.Helper()
	if m.violation != "" {
		t.Error(m.violation)
	}
	if _, open, err := m.site().Open(); open || err != nil {
		t.Errorf("the restore is open: %v", err)
	}
	must(t, os.RemoveAll(m.path("restores"))) // the journals
	if after := tree(t, m.root); after != before {
		t.Errorf("changed to\n%s\nfrom\n%s", after, before)
	}
	if exists(m.path("etcd", "refit-restore-"+restore.NewRun(now).String())) {
		t.Error("a directory of the restore is left")
	}
}

// Until an API server has started, a restore leaves nothing if it is canceled.
func TestCanceledRestoreLeavesTheOldData(t *testing.T) {
	reference := newBed(t, "cp-1").hosts["cp-1"]
	_, _, err := reference.restore(t, Request{}, "")
	must(t, err)
	for _, point := range reference.events {
		t.Run(strings.ReplaceAll(point, "/", " "), func(t *testing.T) {
			m := newBed(t, "cp-1").hosts["cp-1"]
			before := tree(t, m.root)
			if _, died, err := m.restore(t, Request{}, point); err != nil || !died {
				t.Fatalf("%t %v", died, err)
			}
			c, _ := m.cancel(t, "")
			started := point == "restore-start-api-server/manifest" || point == "restore-start-api-server/effective" || point == "restore-finish/removed"
			if (c.Final != "") != started {
				t.Fatalf("it cannot be canceled: %q", c.Final)
			}
			if !started {
				m.hasOld(t, before)
			}
		})
	}
}

// A crash between any two effects of a cancellation is continued by the same command.
func TestCancelContinuesAfterACrashAtEveryEffect(t *testing.T) {
	for _, lost := range []bool{false, true} {
		for _, step := range []string{"restore-move-data/aside", "restore-start-api-server/started"} {
			for _, point := range []string{
				"restore-cancel/started", "restore-etcd/removed", "restore-cancel/away", "restore-cancel/moved", "restore-cancel/restarted", "restore-finish/removed",
			} {
				m := newBed(t, "cp-1").hosts["cp-1"]
				if lost {
					must(t, os.RemoveAll(m.path("etcd", "member")))
				}
				before := tree(t, m.root)
				if _, died, err := m.restore(t, Request{}, step); err != nil || !died {
					t.Fatalf("%t %v", died, err)
				}
				if _, died := m.cancel(t, point); died {
					if _, _, err := m.restore(t, Request{}, ""); err == nil {
						t.Errorf("%s, %s: a restore that is being canceled continues", step, point)
					}
					m.cancel(t, "")
				}
				m.hasOld(t, before)
			}
		}
	}
}

// A cancellation that could not stop etcd, and is repeated, does not move the data either.
func TestRepeatedCancelMovesNoDataOfARunningEtcd(t *testing.T) {
	m := newBed(t, "cp-1").hosts["cp-1"]
	if _, died, err := m.restore(t, Request{}, "restore-start-api-server/started"); err != nil || !died {
		t.Fatalf("%t %v", died, err)
	}
	must(t, os.MkdirAll(m.path("etcd", "member", "snap"), 0o700))
	database, err := os.Create(m.path("etcd", "member", "snap", "db"))
	must(t, err)
	must(t, unix.Flock(int(database.Fd()), unix.LOCK_EX))
	if _, died := m.cancel(t, "restore-etcd/removed"); !died {
		t.Fatal("the first one did not end early")
	}
	c, err := m.desk(t, "").PrepareCancel(t.Context())
	must(t, err)
	must(t, c.Restore.Begin())
	c.Restore.Timeouts = Timeouts{Etcd: 50 * time.Millisecond, APIServer: time.Second, Poll: time.Millisecond}
	err = c.Restore.Cancel(t.Context())
	c.Restore.Close()
	if f, ok := errors.AsType[*node.Failure](err); !ok || f.Reason != "EtcdRuns" || !exists(database.Name()) {
		t.Errorf("got %v", err)
	}
	must(t, database.Close())
	m.cancel(t, "")
}

// The others refuse a member that they have removed.
func TestReplacedMemberIsNotCanceled(t *testing.T) {
	b := newBed(t, "cp-1", "cp-2", "cp-3")
	b.running["cp-2"], b.running["cp-3"] = "live", "live"
	m := b.hosts["cp-1"]
	before := tree(t, m.root)
	if _, died, err := m.restore(t, Request{}, "restore-move-data/effective"); err != nil || !died {
		t.Fatalf("%t %v", died, err)
	}
	m.cancel(t, "")
	m.hasOld(t, before)
	if _, died, err := m.restore(t, Request{}, "restore-replace-member/started"); err != nil || !died {
		t.Fatalf("%t %v", died, err)
	}
	if c, _ := m.cancel(t, ""); c.Final == "" {
		t.Error("a member that may be removed was canceled")
	}
}

// A host that does not come back is left out, and the others serve without it.
func TestRestoreWithoutAHostThatDoesNotComeBack(t *testing.T) {
	b := newBed(t, "cp-1", "cp-2", "cp-3")
	delete(b.hosts, "cp-3")
	gone := []string{"cp-3"}
	p, _, err := b.hosts["cp-1"].restore(t, Request{Without: gone, Options: []string{"--without=cp-3"}}, "")
	if plan := p.Restore.Plan; err == nil || len(plan.Remaining()) != 1 || !strings.HasSuffix(strings.Join(plan.Next(), " "), " --without=cp-3") {
		t.Fatalf("%v, remaining %v", err, plan.Remaining())
	}
	run := p.Restore.Plan.Run
	_, _, err = b.hosts["cp-2"].restore(t, Request{Run: run, After: []string{"cp-1"}, Without: gone}, "")
	must(t, err)
	m := b.hosts["cp-1"]
	must(t, Finish(t.Context(), &Restore{Site: m.site(), Machine: m, Progress: func(string) {}, Timeouts: DefaultTimeouts()}, quiet))
	b.serves(t, run)
	if _, _, err := newBed(t, "cp-1").hosts["cp-1"].restore(t, Request{Without: []string{"cp-9"}}, ""); err == nil {
		t.Error("an unknown host is left out")
	}
}

// Two etcds would have the same cluster, each with its own API servers.
func TestHostsThatServeAreNotLeftOut(t *testing.T) {
	b := newBed(t, "cp-1", "cp-2", "cp-3")
	b.running["cp-2"], b.running["cp-3"] = "live", "live"
	m := b.hosts["cp-1"]
	before := tree(t, m.root)
	_, _, err := m.restore(t, Request{Without: []string{"cp-2", "cp-3"}}, "")
	if err == nil || err.Error() != "LeftOutServes" || tree(t, m.root) != before {
		t.Errorf("a second etcd is restored beside the one that serves: %v", err)
	}
}
