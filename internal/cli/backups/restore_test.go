package backups

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

type restorable struct {
	backup         refitv1alpha1.EtcdBackup
	ready, unready []string
	store          refitv1alpha1.BackupStoreSpec
}

func (r restorable) BackupStore(context.Context, string) (*refitv1alpha1.BackupStore, error) {
	return &refitv1alpha1.BackupStore{Spec: r.store}, nil
}

func (r restorable) EtcdBackup(context.Context, string) (*refitv1alpha1.EtcdBackup, error) {
	return &r.backup, nil
}

func (r restorable) EtcdMembers(context.Context) (ready, unready []string, err error) {
	return r.ready, r.unready, nil
}

func TestRestoreOfACluster(t *testing.T) {
	now := time.Date(2026, 5, 4, 3, 0, 0, 0, time.UTC)
	at := metav1.NewTime(now.Add(-3 * time.Hour))
	stored := refitv1alpha1.EtcdBackup{ObjectMeta: metav1.ObjectMeta{Name: "nightly", UID: "u"}}
	stored.Status.BackupResult = refitv1alpha1.BackupResult{Digest: "sha256:d", ReadBack: &at}
	stored.Status.Attempt = 2
	stored.Status.Node = "cp-2"
	bucket := refitv1alpha1.BackupStoreSpec{}
	directory := refitv1alpha1.BackupStoreSpec{Path: &refitv1alpha1.PathStore{Directory: "/mnt/backups"}, Prefix: "prod"}
	deleted := *stored.DeepCopy()
	deleted.Status.Deleted = &at
	for name, tt := range map[string]struct {
		of   restorable
		want string // a part of the commands, of the copy or of the error
	}{
		"all members are ready":       {restorable{stored, []string{"cp-1", "cp-2"}, nil, bucket}, "--backup=u/2 --digest=sha256:d --run="},
		"one member is not ready":     {restorable{stored, []string{"cp-1", "cp-3"}, []string{"cp-2"}, bucket}, "cp-2: refit-agent restore"},
		"etcd is external":            {restorable{stored, nil, nil, bucket}, "external etcd"},
		"the backup failed":           {restorable{refitv1alpha1.EtcdBackup{}, []string{"cp-1"}, nil, bucket}, "not stored"},
		"marked as deleted":           {restorable{deleted, []string{"cp-1"}, nil, bucket}, "--backup=u/2 --digest=sha256:d"},
		"a bucket":                    {restorable{stored, []string{"cp-1", "cp-2"}, nil, bucket}, "copy nothing"},
		"a directory of another host": {restorable{stored, []string{"cp-1", "cp-2", "cp-3"}, nil, directory}, "copy /mnt/backups/prod/u from cp-2 to cp-1,cp-3"},
		"a directory of this host":    {restorable{stored, []string{"cp-2"}, nil, directory}, "copy nothing"},
	} {
		got, err := Restore(t.Context(), tt.of, "prod", "nightly", now)
		if err == nil && got.Serving != (len(tt.of.unready) == 0) {
			t.Errorf("%s: every member serves: %t", name, got.Serving)
		}
		text := ""
		if err != nil {
			text = err.Error()
		} else {
			for _, c := range got.Commands {
				text += c.Node + ": " + c.Command + "\n"
			}
			text += "copy nothing"
			if got.Copy != nil {
				text = fmt.Sprintf("copy %s from %s to %s", got.Copy.Directory, got.Copy.From, strings.Join(got.Copy.To, ","))
			}
		}
		if err == nil && got.Deleted.IsZero() != (tt.of.backup.Status.Deleted == nil) {
			t.Errorf("%s: deleted %s", name, got.Deleted)
		}
		if !strings.Contains(text, tt.want) {
			t.Errorf("%s: %q does not have %q", name, text, tt.want)
		}
	}
}
