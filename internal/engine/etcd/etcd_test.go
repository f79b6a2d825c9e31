package etcd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// within returns a context with a timeout.
func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// failure requires a node.Failure with these words in its message.
func failure(t *testing.T, err error, class refitv1alpha1.FailureClass, reason string, words ...string) {
	t.Helper()
	var f *node.Failure
	if !errors.As(err, &f) {
		t.Fatalf("the error is not a node.Failure: %v", err)
	}
	if f.Class != class || f.Reason != reason || f.Remedy == "" {
		t.Errorf("the failure is %s %s with the remedy %q: %v", f.Class, f.Reason, f.Remedy, err)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q is not in %q", word, err)
		}
	}
}

// unproven requires that the member becomes unhealthy with these words. On a busy machine, a check
// can end before the member has answered it.
func unproven(t *testing.T, c *Client, want Proof, words ...string) {
	t.Helper()
	var err error
	eventually(t, "the proof fails with "+strings.Join(words, ", "), func() bool {
		err = c.Prove(within(t, 3*time.Second), want)
		return err == nil || !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(err.Error(), word) })
	})
	failure(t, err, refitv1alpha1.FailureManualIntervention, "EtcdUnhealthy", words...)
}

func TestThreeHealthyMembers(t *testing.T) {
	t.Parallel()
	// Without the check, members can be added at once.
	s := start(t, "3.6.8", 3, "--strict-reconfig-check=false")
	leader := s.leader()
	c := s.on(leader)
	local, err := c.Local(t.Context())
	must(t, err)
	name := s.members[leader].name
	if local.Name != name || !local.Leader || local.Learner || local.Version != "3.6.8" || local.ClusterVersion != "3.6.0" || local.LeaderID != local.ID ||
		local.RaftIndex == 0 || local.RaftTerm == 0 || local.DBSize == 0 || local.Quota == 0 {
		t.Errorf("the local member is %+v", local)
	}
	members, err := c.Members(t.Context())
	must(t, err)
	if len(members) != 3 || slices.ContainsFunc(members, func(m Member) bool { return len(m.ClientURLs) != 1 }) {
		t.Errorf("the members are %+v", members)
	}
	must(t, c.OthersHealthy(t.Context()))
	must(t, c.Prove(within(t, 30*time.Second), Proof{Version: "v3.6.8", Members: 3}))
	if left, err := c.local.Get(t.Context(), proofKey); err != nil || len(left.Kvs) != 0 {
		t.Errorf("the proof leaves %v behind (%v)", left, err)
	}
	facts, err := c.Facts(t.Context())
	must(t, err)
	if facts.Name != name || facts.ID != local.HexID() || !facts.Healthy || !facts.Leader || facts.Version != "3.6.8" || facts.QuotaMiB == 0 ||
		!slices.Equal(facts.Members, []string{"m1", "m2", "m3"}) || facts.Alarms != nil {
		t.Errorf("the facts are %+v", facts)
	}

	t.Run("the leadership moves", func(t *testing.T) {
		must(t, c.MoveLeader(t.Context(), 0))
		if now, err := c.Local(t.Context()); err != nil || now.Leader {
			t.Errorf("it still leads: %+v (%v)", now, err)
		}
		before := s.leader()
		must(t, c.MoveLeader(t.Context(), 0))
		if s.leader() != before {
			t.Error("a follower moved the leadership")
		}
	})
	t.Run("another version or number of members is unhealthy", func(t *testing.T) {
		unproven(t, c, Proof{Version: "3.7.0", Members: 3}, "its version is 3.6.8, not 3.7.0")
		unproven(t, c, Proof{Version: "3.6.8", Members: 2}, "it has 3 members, not 2")
	})
	t.Run("a learner is named", func(t *testing.T) {
		joined := s.reserve("m4")
		added, err := c.local.MemberAddAsLearner(t.Context(), []string{joined.peer})
		must(t, err)
		err = c.OthersHealthy(t.Context())
		failure(t, err, refitv1alpha1.FailureTransient, "EtcdMemberUnhealthy", "learner")
		joined.join = s.initial() + ",m4=" + joined.peer
		s.members = append(s.members, joined)
		s.run(joined, etcdBinary(t, "3.6.8"))
		learner := s.on(3)
		eventually(t, "the learner answers", func() bool {
			local, err := learner.Local(within(t, time.Second))
			return err == nil && local.Learner
		})
		failure(t, c.OthersHealthy(t.Context()), refitv1alpha1.FailureTransient, "EtcdMemberUnhealthy", "m4", "learner")
		unproven(t, learner, Proof{Version: "3.6.8", Members: 4}, "learner")
		if facts, err := learner.Facts(t.Context()); err != nil || !facts.Learner || facts.Healthy || facts.Name == "" {
			t.Errorf("its facts are %+v (%v)", facts, err)
		}
		_, err = c.local.MemberRemove(t.Context(), added.Member.ID)
		must(t, err)
		s.kill(3)
		s.members = s.members[:3]
		must(t, c.OthersHealthy(t.Context()))
	})
	t.Run("a member that never started is named", func(t *testing.T) {
		added, err := c.local.MemberAdd(t.Context(), []string{"https://127.0.0.1:1"})
		must(t, err)
		failure(t, c.OthersHealthy(t.Context()), refitv1alpha1.FailureTransient, "EtcdMemberUnhealthy", "never started", Member{ID: added.Member.ID}.HexID())
		_, err = c.local.MemberRemove(t.Context(), added.Member.ID)
		must(t, err)
	})
}

func TestUnreachableMembers(t *testing.T) {
	t.Parallel()
	s := start(t, "3.6.8", 3)
	leader := s.leader()
	c, name := s.on(leader), s.members[leader].name
	t.Run("an unreachable member is named", func(t *testing.T) {
		down := (leader + 1) % 3
		s.kill(down)
		failure(t, c.OthersHealthy(t.Context()), refitv1alpha1.FailureTransient, "EtcdMemberUnhealthy", s.members[down].name)
	})
	t.Run("without a quorum each check fails", func(t *testing.T) {
		s.kill((leader + 2) % 3)
		c.timeout = time.Second / 2
		if local, err := c.Local(t.Context()); err != nil || local.Name != name {
			t.Errorf("it does not report its name: %+v (%v)", local, err)
		}
		unproven(t, c, Proof{Version: "3.6.8", Members: 3})
		failure(t, c.OthersHealthy(t.Context()), refitv1alpha1.FailureTransient, "EtcdNoQuorum")
		_, err := c.Lock(within(t, time.Second), "a")
		failure(t, err, refitv1alpha1.FailureTransient, "EtcdNoQuorum")
		facts, err := c.Facts(t.Context())
		if err != nil || facts.Healthy || facts.Leader || len(facts.Members) != 3 {
			t.Errorf("the facts are %+v (%v)", facts, err)
		}
	})
}

func TestFullDatabaseRaisesAnAlarm(t *testing.T) {
	t.Parallel()
	s := start(t, "3.6.6", 1, "--quota-backend-bytes=1048576")
	c := s.on(0)
	must(t, c.OthersHealthy(t.Context()))
	big := strings.Repeat("x", 256<<10)
	eventually(t, "the database is full", func() bool {
		_, err := c.local.Put(within(t, 5*time.Second), "big", big)
		return err != nil
	})
	failure(t, c.OthersHealthy(t.Context()), refitv1alpha1.FailureTransient, "EtcdAlarm", "NOSPACE of m1")
	unproven(t, c, Proof{Version: "3.6.6", Members: 1}, "NOSPACE")
	facts, err := c.Facts(t.Context())
	if err != nil || !slices.Equal(facts.Alarms, []string{"NOSPACE of m1"}) {
		t.Errorf("the facts are %+v (%v)", facts, err)
	}
}

func TestUpgradedMemberCannotDowngradeItsMinor(t *testing.T) {
	t.Parallel()
	s := start(t, "3.6.6", 1)
	c := s.on(0)
	local, err := c.Local(t.Context())
	must(t, err)
	if !CanDowngrade(local, "3.6.5-0") || CanDowngrade(local, "3.5.26-0") {
		t.Errorf("CanDowngrade of %+v", local)
	}
	proven := make(chan error, 1)
	s.kill(0)
	ctx := within(t, time.Minute)
	// Prove starts while the member is down.
	go func() { proven <- c.Prove(ctx, Proof{Version: "3.7.0", Members: 1}) }()
	time.Sleep(300 * time.Millisecond)
	s.restart(0, "3.7.0")
	restarted := time.Now()
	must(t, <-proven)
	if took := time.Since(restarted); took > 15*time.Second {
		t.Errorf("the proof took %s after the start", took)
	}
	eventually(t, "the cluster version rises", func() bool {
		local, err := c.Local(t.Context())
		return err == nil && local.ClusterVersion == "3.7.0" && !CanDowngrade(local, "3.6.8-0") && CanDowngrade(local, "3.7.0")
	})
}

func TestClientUsesARenewedCertificate(t *testing.T) {
	t.Parallel()
	s := start(t, "3.6.8", 1)
	c := s.on(0)
	// Between the two files the pair does not match.
	for _, suffix := range []string{".crt", ".key"} {
		text, err := os.ReadFile(filepath.Join(s.dir, "server"+suffix))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(s.dir, "client"+suffix), text, 0o600))
		if _, err := c.Local(t.Context()); err != nil { // with a handshake of its own
			t.Errorf("after %s was renewed: %v", suffix, err)
		}
	}
	if shown, err := c.tls.GetClientCertificate(nil); err != nil || shown.Leaf.Subject.CommonName != "server" {
		t.Errorf("it presents %+v (%v)", shown.Leaf.Subject, err)
	}
}

func TestCanDowngrade(t *testing.T) {
	for _, tt := range []struct {
		cluster, to string
		may         bool
	}{
		{"3.6.0", "3.6.6", true},
		{"3.6.0", "v3.6.6-0", true},
		{"3.6.0", "3.7.0", true},
		{"3.7.0", "3.6.8-0", false},
		{"3.6.0", "4.6.0", false},
		{"", "3.6.8", false},
		{"3.6.0", "", false},
		{"3.6.0", "latest", false},
		{"3.6.0", "3.x.0", false},
	} {
		if may := CanDowngrade(Member{ClusterVersion: tt.cluster}, tt.to); may != tt.may {
			t.Errorf("to %q while the cluster is at %q: %t", tt.to, tt.cluster, may)
		}
	}
}
