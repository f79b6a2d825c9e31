package install

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// endPlacing ends the DaemonSet that places agents, but keeps in mind which image it had: every host has that one.
func (r *removing) endPlacing(ctx context.Context) error {
	inventory, err := r.inventory(ctx)
	if err != nil {
		return err
	}
	images := []string{inventory.Agent}
	for _, ref := range []Ref{removingRef, placingRef} {
		found, err := r.get(ctx, ref)
		if err != nil {
			return err
		}
		if found != nil && ours(found) {
			images = append(images, imageOf(found))
		}
	}
	for _, image := range images {
		if imageName.MatchString(image) {
			r.options.Agent = image
		}
	}
	if err := r.end(ctx, placingRef); err != nil {
		return err
	}
	return r.podsGone(ctx, AgentNamespace, agentName)
}

// clearHosts runs a pod on every host that takes the agent away.
func (r *removing) clearHosts(ctx context.Context) error {
	inventory, err := r.inventory(ctx)
	if err != nil || inventory.Cleared { // then the namespace may be going already, and nothing can be started in it
		return err
	}
	set, err := remover(r.options)
	if err != nil {
		return err
	}
	stage, err := r.stage()
	if err != nil {
		return err
	}
	a := &applying{Cluster: r.Cluster, missing: map[string]bool{}}
	if err := a.all(ctx, stage); err != nil {
		return err
	}
	inventory = inventory.with([]Ref{removingRef}) // an install that comes after a removal that was cut off ends it
	if err := a.keep(ctx, inventory); err != nil {
		return err
	}
	if _, err := a.one(ctx, set); err != nil {
		return err
	}
	progress, err := r.Follow(ctx, []*unstructured.Unstructured{set}, r.told)
	r.out.Nodes = progress.Nodes
	if err != nil {
		return fmt.Errorf("removing the agents from the hosts: %w", err)
	}
	if err := r.end(ctx, removingRef); err != nil {
		return err
	}
	if err := r.podsGone(ctx, AgentNamespace, removeName); err != nil {
		return err
	}
	inventory.Cleared = true
	return a.keep(ctx, inventory)
}

// stage is what a pod that removes agents needs: its namespace, its account, and the policy that lets it in; and a place for the inventory.
func (r *removing) stage() ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	for _, folder := range []string{"policy", "agent", "controller"} {
		objects, err := readFolder(r.options.Manifests, folder)
		if err != nil {
			return nil, err
		}
		for _, object := range objects {
			kind := object.GetKind()
			if kind != kindNamespace && object.GetName() != agentPolicy && (folder != "agent" || kind != "ServiceAccount") {
				continue
			}
			if err := r.options.fill(object); err != nil {
				return nil, err
			}
			mark(object)
			out = append(out, object)
		}
	}
	inOrder(out)
	return out, nil
}

// podsGone waits until no pod of a name is left on nodes that are ready. On others they stay until somebody looks after the node.
func (c *Cluster) podsGone(ctx context.Context, namespace, name string) error {
	return until(ctx, "the pods of "+name+" to be gone", time.Second, func() (bool, error) {
		pods, err := c.client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: labelName + "=" + name})
		if err != nil || len(pods.Items) == 0 {
			return err == nil, err
		}
		left := map[string]bool{}
		for i := range pods.Items {
			left[pods.Items[i].Spec.NodeName] = true
		}
		none := true
		err = c.eachNode(ctx, func(node *corev1.Node) error {
			if _, ready := readiness(node); ready && left[node.Name] {
				none = false
			}
			return nil
		})
		return none && err == nil, err
	})
}
