//go:build apiserver

package api

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/refit-dev/refit/test/apiserver"
)

// TestOnlyApproversChangeBackupStores has two users: Olga may write everything in the group, Anna
// is an approver. The writer of a BackupStore chooses who can decrypt every Secret.
func TestOnlyApproversChangeBackupStores(t *testing.T) {
	const why = "BackupStore offsite, which decides who can decrypt backups: it requires the verb approve on backupstores.refit.dev"
	apiserver.EachVersion(t, func(t *testing.T, version string) {
		s := serverOf(t, version)
		role(t, s, "test-writer", []string{"get", "list", "create", "update", "patch", "delete", "deletecollection"}, "*")
		bind(t, s, "olga", "test-writer")
		bind(t, s, "anna", "refit-approver")
		stored := made(t, s, smallest("BackupStore", "offsite"))
		olga, anna := objects(t, s.As(t, "olga"), "BackupStore"), objects(t, s.As(t, "anna"), "BackupStore")
		changedStore := &unstructured.Unstructured{Object: changed(t, stored.Object, fields{"spec.keep": object{"last": int64(3)}})}
		update := metav1.UpdateOptions{DryRun: dryRun}
		remove := metav1.DeleteOptions{DryRun: dryRun}

		_, err := olga.Update(t.Context(), changedStore, update)
		refusedFor(t, "Olga changes it", err, "olga may not update "+why)
		refusedFor(t, "Olga deletes it", olga.Delete(t.Context(), "offsite", remove), "olga may not delete "+why)
		refusedFor(t, "Olga deletes all", olga.DeleteCollection(t.Context(), remove, metav1.ListOptions{}), "olga may not delete "+why)
		another := &unstructured.Unstructured{Object: smallest("BackupStore", "mine")}
		_, err = olga.Create(t.Context(), another, metav1.CreateOptions{DryRun: dryRun})
		refusedFor(t, "Olga creates another", err, "olga may not create BackupStore mine")

		proven := &unstructured.Unstructured{Object: changed(t, stored.Object, fields{"status.proven": object{
			"recipients": list{"age1" + strings.Repeat("q", 58)}, "backup": "nightly", "time": "2026-11-16T03:00:00Z",
		}})}
		_, err = olga.UpdateStatus(t.Context(), proven, update)
		refusedFor(t, "Olga claims that an identity is proven", err, "olga may not update "+why)
		_, err = anna.UpdateStatus(t.Context(), proven, update)
		letThrough(t, "Anna proves an identity", err)

		_, err = anna.Update(t.Context(), changedStore, update)
		letThrough(t, "Anna changes it", err)
		letThrough(t, "Anna deletes it", anna.Delete(t.Context(), "offsite", remove))
		_, err = anna.Create(t.Context(), another, metav1.CreateOptions{DryRun: dryRun})
		letThrough(t, "Anna creates another", err)
	})
}
