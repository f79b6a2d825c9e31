//go:build apiserver

package api

import (
	"context"
	"fmt"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/refit-dev/refit/test/apiserver"
)

// role creates a cluster role for some verbs on the objects of these names, or on all.
func role(t *testing.T, s *apiserver.Server, name string, verbs []string, resource string, names ...string) {
	t.Helper()
	client, err := kubernetes.NewForConfig(s.RESTConfig())
	must(t, err)
	made := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{"refit.dev"}, Verbs: verbs, Resources: []string{resource}, ResourceNames: names}},
	}
	_, err = client.RbacV1().ClusterRoles().Create(t.Context(), made, metav1.CreateOptions{})
	must(t, err)
	t.Cleanup(func() {
		//nolint:usetesting // the test's own context is over
		must(t, client.RbacV1().ClusterRoles().Delete(context.Background(), name, metav1.DeleteOptions{}))
	})
}

const (
	onlyOwn      = "it may write only objects of its own name"
	notThis      = "it may write its NodeReport and the status of its NodeUpgrade, not "
	notSpec      = "a node may not change the spec"
	notDrain     = "a node may not change status.drain"
	notTrial     = "a node may not change status.trial"
	notMetadata  = "a node may not change labels, annotations or finalizers"
	notOwnedByIt = "a node may set no owner but the Node of its own name"
)

// TestNodesWriteOnlyTheirOwnObjects grants all permissions to all nodes: a node can still only
// write about itself.
func TestNodesWriteOnlyTheirOwnObjects(t *testing.T) {
	apiserver.EachVersion(t, func(t *testing.T, version string) {
		s := serverOf(t, version)
		role(t, s, "test-everything", []string{"*"}, "*")
		bind(t, s, "group system:nodes", "test-everything")
		for _, name := range []string{"n1", "n2"} {
			made(t, s, changed(t, smallest("NodeUpgrade", name), fields{
				"status.drain": object{"phase": "Draining", "sequence": int64(5)}, "status.trial": object{"phase": "Running", "sequence": int64(5)},
			}))
			made(t, s, smallest("NodeReport", name))
		}
		made(t, s, smallest("NodeUpgrade", "system"))
		made(t, s, smallest("ClusterUpgrade", "op"))
		made(t, s, smallest("ClusterRelease", "rel"))
		n1 := func(kind string) dynamic.ResourceInterface {
			return objects(t, s.As(t, "system:node:n1", "system:nodes"), kind)
		}
		patch := func(client dynamic.ResourceInterface, name, change string, part ...string) error {
			_, err := client.Patch(t.Context(), name, types.MergePatchType, []byte(change), metav1.PatchOptions{DryRun: dryRun}, part...)
			return err
		}
		create := func(kind, name string, more fields) error {
			wanted := &unstructured.Unstructured{Object: changed(t, smallest(kind, name), more)}
			_, err := n1(kind).Create(t.Context(), wanted, metav1.CreateOptions{DryRun: dryRun})
			return err
		}
		remove := func(kind, name string) error {
			return n1(kind).Delete(t.Context(), name, metav1.DeleteOptions{DryRun: dryRun})
		}
		const progress, facts, permit = `{"status":{"phase":"Applying"}}`, `{"status":{"kernel":"6.8"}}`, `{"spec":{"permit":"Apply","sequence":6}}`

		letThrough(t, "its progress", patch(n1("NodeUpgrade"), "n1", progress, "status"))
		letThrough(t, "its facts", patch(n1("NodeReport"), "n1", facts, "status"))
		letThrough(t, "a write without a change", patch(n1("NodeReport"), "n1", `{}`))
		refusedFor(t, "another's progress", patch(n1("NodeUpgrade"), "n2", progress, "status"), onlyOwn)
		refusedFor(t, "another's facts", patch(n1("NodeReport"), "n2", facts, "status"), onlyOwn)
		refusedFor(t, "another's report", patch(n1("NodeReport"), "n2", `{}`), onlyOwn)

		refusedFor(t, "its order", patch(n1("NodeUpgrade"), "n1", permit), notThis+"UPDATE nodeupgrades")
		refusedFor(t, "another's order", patch(n1("NodeUpgrade"), "n2", permit), notThis+"UPDATE nodeupgrades")
		refusedFor(t, "the question", patch(n1("NodeReport"), "n1", `{"spec":{"request":7}}`), notSpec)
		refusedFor(t, "its drain", patch(n1("NodeUpgrade"), "n1", `{"status":{"drain":{"phase":"Drained"}}}`, "status"), notDrain)
		refusedFor(t, "its drain forgotten", patch(n1("NodeUpgrade"), "n1", `{"status":{"drain":null}}`, "status"), notDrain)
		refusedFor(t, "its trial", patch(n1("NodeUpgrade"), "n1", `{"status":{"trial":{"phase":"Passed"}}}`, "status"), notTrial)
		refusedFor(t, "its trial forgotten", patch(n1("NodeUpgrade"), "n1", `{"status":{"trial":null}}`, "status"), notTrial)
		refusedFor(t, "its status forgotten", patch(n1("NodeUpgrade"), "n1", `{"status":null}`, "status"), notDrain)

		refusedFor(t, "its order deleted", remove("NodeUpgrade", "n1"), notThis+"DELETE nodeupgrades")
		refusedFor(t, "its report deleted", remove("NodeReport", "n1"), notThis+"DELETE nodereports")
		refusedFor(t, "all orders deleted",
			n1("NodeUpgrade").DeleteCollection(t.Context(), metav1.DeleteOptions{DryRun: dryRun}, metav1.ListOptions{}), notThis+"DELETE nodeupgrades")
		refusedFor(t, "an operation", patch(n1("ClusterUpgrade"), "op", `{"spec":{"paused":true}}`), notThis+"UPDATE clusterupgrades")
		refusedFor(t, "an operation's status", patch(n1("ClusterUpgrade"), "op", `{"status":{"epoch":9}}`, "status"), notThis+"UPDATE clusterupgrades/status")
		refusedFor(t, "a ClusterRelease deleted", remove("ClusterRelease", "rel"), notThis+"DELETE clusterreleases")
		refusedFor(t, "a ClusterRelease", create("ClusterRelease", "n1", fields{}), notThis+"CREATE clusterreleases")
		refusedFor(t, "a BackupStore", create("BackupStore", "n1", fields{}), notThis+"CREATE backupstores")
		refusedFor(t, "an EtcdBackup", create("EtcdBackup", "n1", fields{}), notThis+"CREATE etcdbackups")
		refusedFor(t, "an order", create("NodeUpgrade", "n1-new", fields{}), notThis+"CREATE nodeupgrades")
		refusedFor(t, "another's report created", create("NodeReport", "n3", fields{}), onlyOwn)

		first := func(more fields) error { // the first report of a node
			wanted := &unstructured.Unstructured{Object: changed(t, smallest("NodeReport", "n9"), more)}
			_, err := objects(t, s.As(t, "system:node:n9", "system:nodes"), "NodeReport").Create(t.Context(), wanted, metav1.CreateOptions{DryRun: dryRun})
			return err
		}
		letThrough(t, "its report created", first(fields{}))
		refusedFor(t, "its report created with a question", first(fields{"spec.request": int64(7)}), notSpec)
		refusedFor(t, "its report created with a label", first(fields{"metadata.labels": object{"a": "b"}}), notMetadata)
		refusedFor(t, "its report created with a finalizer", first(fields{"metadata.finalizers": list{"a.example.com/b"}}), notMetadata)

		refusedFor(t, "a label", patch(n1("NodeReport"), "n1", `{"metadata":{"labels":{"a":"b"}}}`), notMetadata)
		refusedFor(t, "an annotation", patch(n1("NodeReport"), "n1", `{"metadata":{"annotations":{"a":"b"}}}`), notMetadata)
		refusedFor(t, "a finalizer", patch(n1("NodeReport"), "n1", `{"metadata":{"finalizers":["a.example.com/b"]}}`), notMetadata)
		owned := `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":%q,"uid":"u"}]}}`
		letThrough(t, "its Node as owner", patch(n1("NodeReport"), "n1", fmt.Sprintf(owned, "n1")))
		refusedFor(t, "another Node as owner", patch(n1("NodeReport"), "n1", fmt.Sprintf(owned, "n2")), notOwnedByIt)

		// Names that only resemble a node's.
		stranger := objects(t, s.As(t, "n1", "system:nodes"), "NodeReport")
		refusedFor(t, "a user of the group, named like the node", patch(stranger, "n1", facts, "status"), onlyOwn)
		prefix := objects(t, s.As(t, "system:node", "system:nodes"), "NodeUpgrade")
		refusedFor(t, "a user named like the prefix", patch(prefix, "system", progress, "status"), onlyOwn)
		bind(t, s, "system:node:n1", "test-everything")
		alone := objects(t, s.As(t, "system:node:n1"), "NodeUpgrade")
		refusedFor(t, "a node outside its group", patch(alone, "n2", progress, "status"), onlyOwn)

		// The restrictions of nodes do not apply to other users.
		admin := objects(t, s.RESTConfig(), "NodeUpgrade")
		letThrough(t, "the controller's order", patch(admin, "n1", permit))
		letThrough(t, "the controller's trial", patch(admin, "n1", `{"status":{"trial":{"phase":"Passed"}}}`, "status"))
		letThrough(t, "the controller's drain", patch(admin, "n1", `{"status":{"drain":{"phase":"Drained"}}}`, "status"))
	})
}

// TestAnAgentHasThePermissionsItNeeds has no more than an agent's own permissions: they suffice to
// create its report and apply its status.
func TestAnAgentHasThePermissionsItNeeds(t *testing.T) {
	apiserver.EachVersion(t, func(t *testing.T, version string) {
		s := serverOf(t, version)
		made(t, s, changed(t, smallest("NodeUpgrade", "n7"), fields{"status.drain": object{"phase": "Drained", "sequence": int64(5)}}))
		config := s.As(t, "system:node:n7", "system:nodes")
		orders, reports := objects(t, config, "NodeUpgrade"), objects(t, config, "NodeReport")
		force := metav1.ApplyOptions{FieldManager: "refit-agent", Force: true}

		report := &unstructured.Unstructured{Object: object{
			"apiVersion": "refit.dev/v1alpha1", "kind": "NodeReport",
			"metadata": object{"name": "n7", "ownerReferences": list{object{"apiVersion": "v1", "kind": "Node", "name": "n7", "uid": "u-7"}}},
		}}
		for range 2 { // the second time it exists already
			_, err := reports.Apply(t.Context(), "n7", report, force)
			must(t, err)
		}
		t.Cleanup(func() { deleteNow(t, s, report) })
		facts := report.DeepCopy()
		facts.SetOwnerReferences(nil)
		facts.Object["status"] = object{"kernel": "6.8", "answered": int64(1)}
		_, err := reports.ApplyStatus(t.Context(), "n7", facts, force)
		must(t, err)

		progress := &unstructured.Unstructured{Object: object{
			"apiVersion": "refit.dev/v1alpha1", "kind": "NodeUpgrade", "metadata": object{"name": "n7"},
			"status": object{"phase": "Applying", "observedSequence": int64(5)},
		}}
		found, err := orders.ApplyStatus(t.Context(), "n7", progress, force)
		must(t, err)
		if phase, _, _ := unstructured.NestedString(found.Object, "status", "drain", "phase"); phase != "Drained" {
			t.Errorf("the controller's part of the status became %q", phase)
		}
		one := metav1.ListOptions{FieldSelector: "metadata.name=n7"}
		watching, err := orders.Watch(t.Context(), one)
		must(t, err)
		watching.Stop()
		watching, err = reports.Watch(t.Context(), one)
		must(t, err)
		watching.Stop()

		// The permission to create does not include the permission to delete.
		if err := reports.Delete(t.Context(), "n7", metav1.DeleteOptions{DryRun: dryRun}); err == nil || !strings.Contains(err.Error(), "cannot delete") {
			t.Errorf("a node deletes its report: %v", err)
		}
	})
}
