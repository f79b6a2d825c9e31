package install

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// removePlacer deletes the DaemonSet that installs agents. It first notes the image, which every
// host has already, unless the user chose one, now or for a removal that was interrupted: hosts may
// be unable to pull that of the cluster.
func (r *removeRun) removePlacer(ctx context.Context) error {
	inventory, err := r.inventory(ctx)
	if err != nil {
		return err
	}
	images := []string{inventory.Agent}
	for _, ref := range []Ref{removerRef, placerRef} {
		found, err := r.get(ctx, ref)
		if err != nil {
			return err
		}
		if found != nil && isRemovable(found) {
			images = append(images, imageOf(found))
		}
	}
	if inventory.Chosen {
		images = images[:1]
	}
	for _, image := range images {
		if !r.options.AgentChosen && imageName.MatchString(image) {
			r.options.Agent = image
		}
	}
	if err := r.recordImage(ctx, inventory); err != nil {
		return err
	}
	if err := r.delete(ctx, placerRef); err != nil {
		return err
	}
	return r.waitForPodsDeleted(ctx, AgentNamespace, agentName, r.callbacks)
}

// recordImage records the image in the inventory, which the Helm chart does not have: after an
// interruption, the DaemonSet that names the image is gone.
func (r *removeRun) recordImage(ctx context.Context, inventory Inventory) error {
	chosen := r.options.AgentChosen || inventory.Chosen
	if inventory.Agent == r.options.Agent && inventory.Chosen == chosen {
		return nil
	}
	inventory.Agent, inventory.Chosen = r.options.Agent, chosen
	err := (&applyRun{Cluster: r.Cluster}).writeInventory(ctx, inventory.with([]Ref{placerRef}))
	if apierrors.IsNotFound(err) { // the namespace is gone already
		return nil
	}
	return err
}

// removeFromHosts runs a pod on every node that removes the agent from its host.
func (r *removeRun) removeFromHosts(ctx context.Context) error {
	inventory, err := r.inventory(ctx)
	// Once cleared, the namespace may be terminating, so that no pod can start in it.
	if err != nil || inventory.Cleared {
		return err
	}
	set, err := remover(r.options)
	if err != nil {
		return err
	}
	prerequisites, err := r.prerequisites(ctx)
	if err != nil {
		return err
	}
	a := &applyRun{Cluster: r.Cluster, removing: true, missing: map[string]bool{}}
	if err := a.applyAll(ctx, prerequisites); err != nil {
		return err
	}
	// So that an install after an interrupted removal deletes it.
	inventory = inventory.with([]Ref{removerRef})
	if err := a.writeInventory(ctx, inventory); err != nil {
		return err
	}
	if _, err := a.applyOne(ctx, set); err != nil {
		return err
	}
	progress, err := r.Follow(ctx, []*unstructured.Unstructured{set}, r.callbacks)
	r.out.Nodes = progress.Nodes
	if err != nil {
		return fmt.Errorf("cannot remove the agents from the hosts: %w", err)
	}
	if err := r.delete(ctx, removerRef); err != nil {
		return err
	}
	if err := r.waitForPodsDeleted(ctx, AgentNamespace, removeName, r.callbacks); err != nil {
		return err
	}
	inventory.Cleared = true
	return a.writeInventory(ctx, inventory)
}

// prerequisites returns what a pod that removes agents needs: its namespace, its service account,
// the policy that admits it, and the namespace of the inventory. The account keeps its secrets.
func (r *removeRun) prerequisites(ctx context.Context) ([]*unstructured.Unstructured, error) {
	existing, err := r.Existing(ctx)
	if err != nil {
		return nil, err
	}
	r.options.PullSecrets = existing.PullSecrets
	var out []*unstructured.Unstructured
	for _, folder := range []string{"policy", "agent", "controller"} {
		objects, err := readFolder(r.options.Manifests, folder)
		if err != nil {
			return nil, err
		}
		for _, object := range objects {
			kind := object.GetKind()
			if kind != kindNamespace && object.GetName() != agentPolicy && (folder != "agent" || kind != kindAccount) {
				continue
			}
			if err := r.options.fill(object); err != nil {
				return nil, err
			}
			setLabels(object)
			out = append(out, object)
		}
	}
	sortForApply(out)
	return out, nil
}

// waitForPodsDeleted waits until no ready node has a pod of that name. On other nodes the pods stay
// until the node is ready or removed.
func (c *Cluster) waitForPodsDeleted(ctx context.Context, namespace, name string, callbacks Callbacks) error {
	return until(ctx, "the pods of "+name+" to terminate", time.Second, callbacks, func() (bool, error) {
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
