//go:build apiserver

package api

import (
	"maps"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/refit-dev/refit/test/apiserver"
)

// operationLabels are the labels by which an operation recognizes its EtcdBackups.
var operationLabels = object{"refit.dev/operation": "u-1", "refit.dev/hop": "v1.36.3", "refit.dev/number": "1", "refit.dev/retry": "0"}

// TestOnlyOperationsPresentABackupAsTheirs has two users: Olga may write everything in the group,
// Anna may also approve. An operation changes the control plane after a backup that it recognizes.
func TestOnlyOperationsPresentABackupAsTheirs(t *testing.T) {
	const why = "may not set the labels refit.dev/operation, hop, number and retry, nor spec.operation, of EtcdBackup"
	apiserver.EachVersion(t, func(t *testing.T, version string) {
		s := serverOf(t, version)
		role(t, s, "test-writer", []string{"get", "list", "create", "update", "patch", "delete"}, "*")
		bind(t, s, "olga", "test-writer")
		bind(t, s, "anna", "test-writer")
		bind(t, s, "anna", "refit-approver")
		own := made(t, s, changed(t, smallest("EtcdBackup", "own"), fields{"metadata.labels": operationLabels, "spec.operation": "to-v1.36.3"}))
		nightly := made(t, s, smallest("EtcdBackup", "nightly"))
		olga, anna := objects(t, s.As(t, "olga"), "EtcdBackup"), objects(t, s.As(t, "anna"), "EtcdBackup")
		controller := objects(t, s.As(t, controllerUser, "system:masters"), "EtcdBackup")

		create := metav1.CreateOptions{DryRun: dryRun}
		forged := func(changes fields) *unstructured.Unstructured {
			return &unstructured.Unstructured{Object: changed(t, smallest("EtcdBackup", "forged"), changes)}
		}
		_, err := olga.Create(t.Context(), forged(fields{"metadata.labels": object{"team": "shop"}}), create)
		letThrough(t, "Olga creates one for herself", err)
		for name, value := range operationLabels {
			_, err = olga.Create(t.Context(), forged(fields{"metadata.labels": object{name: value}}), create)
			refusedFor(t, "Olga creates one with the label "+name, err, "olga "+why+" forged")
		}
		_, err = olga.Create(t.Context(), forged(fields{"spec.operation": "to-v1.36.3"}), create)
		refusedFor(t, "Olga creates one that names an operation", err, "olga "+why+" forged")
		all := forged(fields{"metadata.labels": operationLabels, "spec.operation": "to-v1.36.3"})
		_, err = anna.Create(t.Context(), all, create)
		letThrough(t, "Anna creates one of the operation", err)
		_, err = controller.Create(t.Context(), all, create)
		letThrough(t, "the controller creates one of the operation", err)

		update := metav1.UpdateOptions{DryRun: dryRun}
		relabeled := func(b *unstructured.Unstructured, change func(labels map[string]string)) *unstructured.Unstructured {
			out, labels := b.DeepCopy(), map[string]string{}
			maps.Copy(labels, b.GetLabels())
			change(labels)
			out.SetLabels(labels)
			return out
		}
		_, err = olga.Update(t.Context(), relabeled(nightly, func(l map[string]string) { l["refit.dev/hop"] = "v1.36.3" }), update)
		refusedFor(t, "Olga labels one", err, "olga "+why+" nightly")
		_, err = olga.Update(t.Context(), relabeled(own, func(l map[string]string) { l["refit.dev/retry"] = "9" }), update)
		refusedFor(t, "Olga changes a label of the operation's", err, "olga "+why+" own")
		_, err = olga.Update(t.Context(), relabeled(own, func(l map[string]string) { delete(l, "refit.dev/number") }), update)
		refusedFor(t, "Olga removes a label of the operation's", err, "olga "+why+" own")
		_, err = olga.Update(t.Context(), relabeled(own, func(l map[string]string) { l["team"] = "shop" }), update)
		letThrough(t, "Olga adds a label of her own", err)
		_, err = anna.Update(t.Context(), relabeled(own, func(l map[string]string) { l["refit.dev/retry"] = "9" }), update)
		letThrough(t, "Anna changes a label of the operation's", err)
	})
}

// TestTheControllerDeletesOnlyUnfinishedBackups has a controller with every permission: the policy
// must hold even if RBAC does not.
func TestTheControllerDeletesOnlyUnfinishedBackups(t *testing.T) {
	const why = ": only one of an operation that has not ended"
	stored := fields{"status.readBack": "2026-03-02T10:00:00Z"}
	running := fields{"status.readBack": "2026-03-02T10:00:00Z", "status.startTime": "2026-03-02T09:59:00Z"}
	own := fields{"metadata.labels": operationLabels, "spec.operation": "to-v1.36.3"}
	apiserver.EachVersion(t, func(t *testing.T, version string) {
		s := serverOf(t, version)
		controller := objects(t, s.As(t, controllerUser, "system:masters"), "EtcdBackup")
		for name, test := range map[string]struct {
			of, status fields
			refused    bool
		}{
			"nightly":         {nil, nil, true},
			"nightly-stored":  {nil, stored, true},
			"nightly-running": {nil, running, true},
			"own":             {own, nil, false},
			"own-stored":      {own, stored, true},
			"own-running":     {own, running, false},
		} {
			made(t, s, changed(t, changed(t, smallest("EtcdBackup", name), test.of), test.status))
			err := controller.Delete(t.Context(), name, metav1.DeleteOptions{DryRun: dryRun})
			if test.refused {
				refusedFor(t, "the controller deletes "+name, err, "the controller may not delete EtcdBackup "+name+why)
				continue
			}
			letThrough(t, "the controller deletes "+name, err)
		}
	})
}
