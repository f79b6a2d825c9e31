//go:build apiserver

package api

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/refit-dev/refit/test/apiserver"
)

const controllerUser = "system:serviceaccount:refit-system:refit-controller"

// The reasons why admission refuses a change of the controller.
const (
	notCordon      = "the controller may change only spec.unschedulable of a Node"
	notLabels      = "the controller may not change labels, finalizers or owners of a Node"
	notAnnotation  = "the controller may change only the annotations of Refit on a Node"
	notInvite      = "the controller may keep autoscalers off a Node, and stop doing so, but not invite them"
	notListed      = "the controller must list the annotations that it adds in refit.dev/protected-with"
	notOthers      = "the controller may lift only cordons of Refit"
	notMarked      = "the controller must mark its cordon with refit.dev/cordoned-by"
	notUsers       = "the controller may change only the finalizers and the status of a ClusterUpgrade"
	cordonOnly     = "the controller may cordon and uncordon Nodes, not "
	notThisOnItems = "the controller may not "
)

const (
	scaleDown = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
	karpenter = "karpenter.sh/do-not-disrupt"
)

// annotate is a patch of annotations: names and values, of which empty ones are removed.
func annotate(pairs ...string) string {
	annotations := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		if annotations[pairs[i]] = pairs[i+1]; pairs[i+1] == "" {
			annotations[pairs[i]] = nil
		}
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}})
	if err != nil {
		panic(err)
	}
	return string(patch)
}

// TestTheControllerOnlyCordonsNodes has a controller with every permission: the policy must hold
// even if RBAC does not.
func TestTheControllerOnlyCordonsNodes(t *testing.T) {
	apiserver.EachVersion(t, func(t *testing.T, version string) {
		s := serverOf(t, version)
		admin, err := kubernetes.NewForConfig(s.RESTConfig())
		must(t, err)
		controller, err := kubernetes.NewForConfig(s.As(t, controllerUser, "system:masters"))
		must(t, err)
		node := func(name string, cordoned bool, annotations map[string]string) {
			made := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations}, Spec: corev1.NodeSpec{Unschedulable: cordoned}}
			_, err := admin.CoreV1().Nodes().Create(t.Context(), made, metav1.CreateOptions{})
			must(t, err)
			t.Cleanup(func() {
				//nolint:usetesting // the test's own context is over
				must(t, admin.CoreV1().Nodes().Delete(context.Background(), name, metav1.DeleteOptions{}))
			})
		}
		node("open", false, map[string]string{"note": "x"})
		node("cordoned", true, nil)
		node("refit", true, map[string]string{"refit.dev/cordoned-by": "u-1"})
		node("protected", false, map[string]string{
			scaleDown: "true", karpenter: "true", "refit.dev/protected-by": "u-1", "refit.dev/protected-with": karpenter,
		})
		node("stale", false, map[string]string{"refit.dev/cordoned-by": "u-1"})
		patch := func(client kubernetes.Interface, name, change string, part ...string) error {
			options := metav1.PatchOptions{DryRun: dryRun}
			_, err := client.CoreV1().Nodes().Patch(t.Context(), name, types.MergePatchType, []byte(change), options, part...)
			return err
		}
		for _, c := range []struct{ situation, node, change, why string }{
			{"cordons", "open", `{"metadata":{"annotations":{"refit.dev/cordoned-by":"u-1"}},"spec":{"unschedulable":true}}`, ""},
			{"cordons where a mark is left", "stale", `{"metadata":{"annotations":{"refit.dev/cordoned-by":"u-2"}},"spec":{"unschedulable":true}}`, ""},
			{"uncordons", "refit", `{"metadata":{"annotations":{"refit.dev/cordoned-by":null}},"spec":{"unschedulable":false}}`, ""},
			{"removes a mark that is left", "stale", `{"metadata":{"annotations":{"refit.dev/cordoned-by":null}}}`, ""},
			{"keeps autoscalers off", "refit", annotate(scaleDown, "true", karpenter, "true", "refit.dev/protected-with", scaleDown+","+karpenter), ""},
			{"keeps Karpenter off", "open", annotate(karpenter, "true", "refit.dev/protected-by", "u-1", "refit.dev/protected-with", karpenter), ""},
			{"protects for another operation", "protected", annotate("refit.dev/protected-by", "u-2"), ""},
			{"stops keeping Karpenter off", "protected", annotate(karpenter, "", "refit.dev/protected-by", "", "refit.dev/protected-with", ""), ""},
			{"removes a mark that is left", "protected", annotate("refit.dev/protected-by", "", "refit.dev/protected-with", ""), ""},
			{"invites Karpenter", "open", annotate(karpenter, "false", "refit.dev/protected-with", karpenter), notInvite},
			{"invites Karpenter later", "protected", annotate(karpenter, "false"), notInvite},
			{"lets an autoscaler remove a user's node", "protected", annotate(scaleDown, ""), notInvite},
			{"keeps autoscalers off without a mark", "open", annotate(scaleDown, "true"), notListed},
			{"marks a user's annotation", "protected", annotate("refit.dev/protected-with", karpenter+","+scaleDown), notListed},
			{"cordons without a mark", "open", `{"spec":{"unschedulable":true}}`, notMarked},
			{"lifts a user's cordon", "cordoned", `{"spec":{"unschedulable":false}}`, notOthers},
			{"marks a user's cordon", "cordoned", `{"metadata":{"annotations":{"refit.dev/cordoned-by":"u-1"}}}`, notMarked},
			{"marks a node that is not cordoned", "open", `{"metadata":{"annotations":{"refit.dev/cordoned-by":"u-1"}}}`, notMarked},
			{"takes another operation's cordon", "refit", `{"metadata":{"annotations":{"refit.dev/cordoned-by":"u-2"}}}`, notMarked},
			{"adds a taint", "open", `{"spec":{"taints":[{"key":"a","effect":"NoExecute"}]}}`, notCordon},
			{"sets the provider", "open", `{"spec":{"providerID":"x://1"}}`, notCordon},
			{"adds a label", "open", `{"metadata":{"labels":{"node-role.kubernetes.io/control-plane":""}}}`, notLabels},
			{"adds a finalizer", "open", `{"metadata":{"finalizers":["a.example.com/b"]}}`, notLabels},
			{"adds an annotation", "open", `{"metadata":{"annotations":{"a.example.com/b":"c"}}}`, notAnnotation},
			{"changes an annotation", "open", `{"metadata":{"annotations":{"note":"y"}}}`, notAnnotation},
			{"removes an annotation", "open", `{"metadata":{"annotations":{"note":null}}}`, notAnnotation},
		} {
			if err := patch(controller, c.node, c.change); c.why == "" {
				letThrough(t, c.situation, err)
			} else {
				refusedFor(t, c.situation, err, c.why)
			}
			letThrough(t, "an administrator: "+c.situation, patch(admin, c.node, c.change))
		}
		refusedFor(t, "reports a condition", patch(controller, "open", `{"status":{"phase":"Running"}}`, "status"), cordonOnly+"UPDATE nodes")
		refusedFor(t, "deletes", controller.CoreV1().Nodes().Delete(t.Context(), "open", metav1.DeleteOptions{DryRun: dryRun}), cordonOnly+"DELETE nodes")
	})
}

func TestTheControllerLeavesTheSpecToTheUser(t *testing.T) {
	apiserver.EachVersion(t, func(t *testing.T, version string) {
		s := serverOf(t, version)
		controller := objects(t, s.As(t, controllerUser, "system:masters"), "ClusterUpgrade")
		made(t, s, changed(t, smallest("ClusterUpgrade", "op"), fields{"spec.paused": true, "spec.approvedPlan": hashA}))
		patch := func(change string, part ...string) error {
			_, err := controller.Patch(t.Context(), "op", types.MergePatchType, []byte(change), metav1.PatchOptions{DryRun: dryRun}, part...)
			return err
		}
		letThrough(t, "its finalizer", patch(`{"metadata":{"finalizers":["refit.dev/operation"]}}`))
		letThrough(t, "its status", patch(`{"status":{"epoch":3}}`, "status"))
		for situation, change := range map[string]string{
			"resumes": `{"spec":{"paused":false}}`, "approves": `{"spec":{"approvedPlan":"` + hashB + `"}}`, "needs no approval": `{"spec":{"approval":"None"}}`,
			"retries": `{"spec":{"retry":1}}`, "widens a pool": `{"spec":{"pools":[{"name":"default","maxUnavailable":100}]}}`,
			"waives": `{"spec":{"waivers":[{"check":"pdb","reason":"x"}]}}`, "labels": `{"metadata":{"labels":{"a":"b"}}}`,
		} {
			refusedFor(t, situation, patch(change), notUsers)
		}
		_, err := controller.Create(t.Context(), &unstructured.Unstructured{Object: smallest("ClusterUpgrade", "mine")}, metav1.CreateOptions{DryRun: dryRun})
		refusedFor(t, "creates", err, notThisOnItems+"CREATE clusterupgrades")
		refusedFor(t, "deletes", controller.Delete(t.Context(), "op", metav1.DeleteOptions{DryRun: dryRun}), notThisOnItems+"DELETE clusterupgrades")
	})
}

// A node becomes active only within what the pools allow, and one control plane node beside them. A
// percentage is of a number of nodes that admission cannot count.
func TestActiveNodesAreBoundedByThePools(t *testing.T) {
	nodes := func(n int) list {
		var out list
		for i := range n {
			out = append(out, fmt.Sprintf("n%d", i))
		}
		return out
	}
	tests := []struct {
		situation string
		pools     fields
		was, now  list
		refused   bool
	}{
		{"no pools, a control plane node and a worker", fields{}, nil, nodes(2), false},
		{"no pools, and one more", fields{}, nil, nodes(3), true},
		{"the pool default", pools(pool("default", "maxUnavailable", int64(5))), nodes(5), nodes(6), false},
		{"the pool default, and one more", pools(pool("default", "maxUnavailable", int64(5))), nodes(6), nodes(7), true},
		{"two pools and default", pools(pool("a", "maxUnavailable", int64(2)), pool("b", "maxUnavailable", int64(3))), nodes(6), nodes(7), false},
		{"two pools and default, and one more", pools(pool("a", "maxUnavailable", int64(2)), pool("b", "maxUnavailable", int64(3))), nodes(7), nodes(8), true},
		{"a percentage", pools(pool("default", "maxUnavailable", "10%")), nil, nodes(200), false},
		{"another node instead", fields{}, nodes(2), list{"n0", "other"}, false},
		{"too many, of which one ends", fields{}, nodes(9), nodes(8), false},
		{"too many, and another instead", fields{}, nodes(9), append(nodes(8), "other"), true},
	}
	apiserver.EachVersion(t, func(t *testing.T, version string) {
		s := serverOf(t, version)
		controller := objects(t, s.As(t, controllerUser, "system:masters"), "ClusterUpgrade")
		for _, tt := range tests {
			t.Run(tt.situation, func(t *testing.T) {
				object := changed(t, smallest("ClusterUpgrade", "op"), tt.pools)
				if tt.was != nil {
					object = with(t, object, "status.active", tt.was)
				}
				stored := made(t, s, object)
				wanted := &unstructured.Unstructured{Object: with(t, stored.Object, "status.active", tt.now)}
				_, err := controller.UpdateStatus(t.Context(), wanted, metav1.UpdateOptions{DryRun: dryRun})
				if tt.refused {
					refusedFor(t, "the controller", err, "the pools of this ClusterUpgrade allow fewer active nodes")
				} else {
					letThrough(t, "the controller", err)
				}
			})
		}
	})
}

// TestTheControllerNeitherForcesPodsNorTakesThoseThatStay covers what a drain never does. Admission
// cannot limit deletions to the nodes of an operation: see docs/security-model.md.
func TestTheControllerNeitherForcesPodsNorTakesThoseThatStay(t *testing.T) {
	const (
		force = "the controller may not shorten the grace period of a pod"
		stays = "the controller may not delete pods of DaemonSets and static pods"
	)
	apiserver.EachVersion(t, func(t *testing.T, version string) {
		s := serverOf(t, version)
		admin, err := kubernetes.NewForConfig(s.RESTConfig())
		must(t, err)
		controller, err := kubernetes.NewForConfig(s.As(t, controllerUser, "system:masters"))
		must(t, err)
		serviceAccount(t, admin)
		createPod(t, admin, "plain", func(p *corev1.Pod) { p.Spec.NodeName = "n1" })
		createPod(t, admin, "pending", func(*corev1.Pod) {})
		createPod(t, admin, "daemon", func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "x", UID: "u", Controller: new(true)}}
		})
		createPod(t, admin, "static", func(p *corev1.Pod) {
			p.Annotations, p.Spec.NodeName = map[string]string{corev1.MirrorPodAnnotationKey: "x"}, "n1"
		})
		remove := func(client kubernetes.Interface, name string, grace *int64) error {
			return client.CoreV1().Pods("default").Delete(t.Context(), name, metav1.DeleteOptions{DryRun: dryRun, GracePeriodSeconds: grace})
		}
		evict := func(name string, grace *int64) error {
			return controller.PolicyV1().Evictions("default").Evict(t.Context(), &policyv1.Eviction{
				ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}, DeleteOptions: &metav1.DeleteOptions{DryRun: dryRun, GracePeriodSeconds: grace},
			})
		}
		letThrough(t, "deletes", remove(controller, "plain", nil))
		letThrough(t, "deletes a pending pod", remove(controller, "pending", nil))
		letThrough(t, "evicts", evict("plain", nil))
		refusedFor(t, "deletes by force", remove(controller, "plain", new(int64)), force)
		refusedFor(t, "evicts by force", evict("plain", new(int64)), force)
		refusedFor(t, "deletes a pod of a DaemonSet", remove(controller, "daemon", nil), stays)
		refusedFor(t, "deletes a static pod", remove(controller, "static", nil), stays)
		for _, name := range []string{"plain", "daemon", "static"} {
			letThrough(t, "an administrator: "+name, remove(admin, name, new(int64)))
		}
	})
}

func createPod(t *testing.T, admin kubernetes.Interface, name string, change func(*corev1.Pod)) {
	t.Helper()
	made := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "x", Image: "x"}}}}
	change(made)
	_, err := admin.CoreV1().Pods("default").Create(t.Context(), made, metav1.CreateOptions{})
	must(t, err)
	t.Cleanup(func() {
		//nolint:usetesting // the test's own context is over
		must(t, admin.CoreV1().Pods("default").Delete(context.Background(), name, metav1.DeleteOptions{GracePeriodSeconds: new(int64)}))
	})
}

// serviceAccount creates the account that pods need; no controller does it here.
func serviceAccount(t *testing.T, admin kubernetes.Interface) {
	t.Helper()
	_, err := admin.CoreV1().ServiceAccounts("default").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		must(t, err)
	}
}
