package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
)

// withStore has the BackupStore that `refit install` creates.
func (s *site) withStore(t *testing.T) *site {
	t.Helper()
	store := &refitv1alpha1.BackupStore{ObjectMeta: metav1.ObjectMeta{Name: "local"}}
	if err := s.Create(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	return s
}

// takes ends each EtcdBackup with a status, as the controller would.
func (s *site) takes(t *testing.T, result func(*refitv1alpha1.EtcdBackup)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := s.Watch(ctx, &refitv1alpha1.EtcdBackupList{})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range stream.ResultChan() {
			if b, ok := event.Object.(*refitv1alpha1.EtcdBackup); ok && b.Status.Attempt == 0 {
				b.Status.Node, b.Status.Attempt = "cp-2", 1
				result(b)
				if err := s.Status().Update(ctx, b); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		stream.Stop()
		<-done
	})
}

func isStored(b *refitv1alpha1.EtcdBackup) {
	at := metav1.NewTime(clustertest.Now)
	b.Status.ReadBack, b.Status.Uploaded, b.Status.Revision, b.Status.Size = &at, &at, 4711, 5<<20
}

func isRehearsed(findings ...refitv1alpha1.RehearsalFinding) func(*refitv1alpha1.EtcdBackup) {
	return func(b *refitv1alpha1.EtcdBackup) {
		isStored(b)
		b.Status.Drilled = b.Status.ReadBack
		for _, hop := range b.Spec.Hops {
			b.Status.Rehearsed = append(b.Status.Rehearsed, refitv1alpha1.RehearsedHop{Release: hop, Kubernetes: "v1.36.3", Findings: findings})
		}
	}
}

func (s *site) backups(t *testing.T) []refitv1alpha1.EtcdBackup {
	t.Helper()
	var list refitv1alpha1.EtcdBackupList
	if err := s.List(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func TestBackupCommands(t *testing.T) {
	finding := refitv1alpha1.RehearsalFinding{Reason: "FlagUnknown", Object: "--old", Message: "it is gone", Remedy: "Remove it"}
	fails := func(b *refitv1alpha1.EtcdBackup) {
		b.Status.Attempt, b.Status.Error = refitv1alpha1.MaxBackupAttempts, &refitv1alpha1.BackupError{Message: "the bucket is full", Remedy: "Empty it"}
	}
	for situation, c := range map[string]struct {
		args   string
		result func(*refitv1alpha1.EtcdBackup)
		code   int
		out    string
		err    string
	}{
		"stored":                     {"backup create --drill none", isStored, 0, "Stored, and read back from the store", ""},
		"failed":                     {"backup create", fails, 1, "the bucket is full", "failed after 3 attempts"},
		"the agent ignores a drill":  {"backup create", isStored, 1, "Stored", "did not try to restore it"},
		"drilled":                    {"backup create --drill RESTORE", isRehearsed(), 0, "Restored into a scratch etcd", ""},
		"rehearsed without findings": {"rehearse --to v1.36.3", isRehearsed(), 0, "No problem was found.", ""},
		"rehearsed with findings":    {"rehearse --to v1.36.3", isRehearsed(finding), 3, "→ Remove it", ""},
		"rehearsed by create":        {"backup create --drill rehearse --to v1.36", isRehearsed(finding), 3, "FlagUnknown --old", ""},
		"no such store":              {"backup create --store offsite", isStored, 1, "", "there is no BackupStore offsite"},
		"no such drill":              {"backup create --drill maybe", isStored, 2, "", "none, restore, rehearse"},
		"a rehearsal of nothing":     {"backup create --drill rehearse", isStored, 2, "", "--to VERSION"},
		"a version without drill":    {"backup create --to v1.36.3", isStored, 2, "", "--to requires --drill rehearse"},
		"an unknown version":         {"rehearse --to v1.99.0", isStored, 2, "", "v1.99.0"},
		"no release on the path":     {"rehearse --to v1.36.9", isStored, 1, "", "has no ClusterRelease for Kubernetes v1.36.9"},
	} {
		t.Run(situation, func(t *testing.T) {
			s := newSite(t).withStore(t)
			s.takes(t, c.result)
			code := s.refit(t, strings.Fields(c.args)...)
			if code != c.code || !strings.Contains(s.out.String(), c.out) || !strings.Contains(s.err.String(), c.err) {
				t.Errorf("exit code %d, want %d:\n%s%s", code, c.code, s.out, s.err)
			}
			if c.code == 2 && len(s.backups(t)) > 0 {
				t.Error("a usage error created a backup")
			}
		})
	}
}

func TestARehearsalHasTheReleasesOfThePath(t *testing.T) {
	s := newSite(t).withStore(t)
	s.takes(t, isRehearsed())
	if code := s.refit(t, "rehearse", "--to", "v1.36.3"); code != 0 {
		t.Fatalf("exit code %d: %s", code, s.err)
	}
	created := s.backups(t)[0]
	if created.Spec.Drill != refitv1alpha1.DrillRehearse || len(created.Spec.Hops) != 1 || created.Spec.Hops[0].Digest == "" || !strings.HasPrefix(created.Name, "rehearsal-") {
		t.Errorf("created %+v", created)
	}
}

// The API server has the backup before the user interrupts.
func TestABackupContinuesWhenTheCommandDoesNot(t *testing.T) {
	s := newSite(t).withStore(t)
	if code := s.refit(t, "backup", "create", "--timeout", "1ms"); code != 4 || !strings.Contains(s.err.String(), "refit backup show --kubeconfig") {
		t.Errorf("exit code %d: %s", code, s.err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.takes(t, func(*refitv1alpha1.EtcdBackup) { cancel() })
	if code := run(ctx, s.app, []string{"backup", "create", "--kubeconfig", s.kubeconfig}); code != 130 || !strings.Contains(s.err.String(), "continues in the cluster") {
		t.Errorf("exit code %d: %s", code, s.err)
	}
	if got := len(s.backups(t)); got != 2 {
		t.Errorf("there are %d backups", got)
	}
}

func TestBackupsAreListedAndShown(t *testing.T) {
	s := newSite(t).withStore(t)
	s.takes(t, isStored)
	for range 2 { // within the same minute
		if code := s.refit(t, "backup", "create", "--drill", "none", "-o", "json"); code != 0 {
			t.Fatalf("exit code %d: %s", code, s.err)
		}
	}
	s.out.Reset()
	var list cliv1alpha1.Backups
	if code := s.refit(t, "backup", "list", "-o", "json"); code != 0 || json.Unmarshal(s.out.Bytes(), &list) != nil || len(list.Backups) != 2 {
		t.Fatalf("exit code %d: %s%s", code, s.out, s.err)
	}
	if got := list.Backups[0].Identity; got == nil || got.Proven || !strings.HasPrefix(got.Message, "no identity has decrypted") {
		t.Errorf("the identity of the store: %+v", got)
	}
	s.out.Reset()
	name := list.Backups[1].Name
	if code := s.refit(t, "backup", "show", name); code != 0 || !strings.Contains(s.out.String(), "revision 4,711") ||
		!strings.Contains(s.out.String(), "unproven: no identity has decrypted") || !strings.HasSuffix(name, "-2") {
		t.Errorf("exit code %d, %s: %s%s", code, name, s.out, s.err)
	}
	if code := s.refit(t, "backup", "show", "other"); code != 1 || !strings.Contains(s.err.String(), "there is no EtcdBackup other") {
		t.Errorf("exit code %d: %s", code, s.err)
	}
}
