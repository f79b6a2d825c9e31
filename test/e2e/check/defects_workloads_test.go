//go:build e2e

package check

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const onFirstWorker = "nodeSelector: {kubernetes.io/hostname: check-worker-1}"

func budgetDefects() []defect {
	return []defect{
		{
			name:   "a budget that asks for its only pod",
			faults: []fault{objects(app{name: "only", replicas: 1}.manifest(), budget("only", "only", "minAvailable: 1"))},
			want:   []want{{check: "BudgetNeverAllows", object: "PodDisruptionBudget shop/only"}},
		},
		{
			name:   "a budget with maxUnavailable 0",
			faults: []fault{objects(app{name: "zero", replicas: 2}.manifest(), budget("zero", "zero", "maxUnavailable: 0"))},
			want:   []want{{check: "BudgetNeverAllows", object: "PodDisruptionBudget shop/zero"}},
		},
		{
			name: "budgets that overlap",
			faults: []fault{objects(app{name: "twice", replicas: 2}.manifest(),
				budget("twice-a", "twice", "maxUnavailable: 1"), budget("twice-b", "twice", "maxUnavailable: 1"))},
			want: []want{{check: "BudgetsOverlap", object: "Deployment shop/twice"}},
		},
		{
			name:   "a budget for pods that cannot be counted",
			faults: []fault{ownedByConfigMap("odd"), objects(budget("odd", "odd", "maxUnavailable: 1"))},
			want:   []want{{check: "BudgetFailed", object: "PodDisruptionBudget shop/odd"}},
		},
		{
			name:   "a budget for pods that are bound to their node",
			faults: []fault{objects(app{name: "bound", replicas: 2, pod: onFirstWorker}.manifest(), budget("bound", "bound", "maxUnavailable: 1"))},
			want:   []want{{check: "BudgetWaitsForNode", object: "PodDisruptionBudget shop/bound"}},
		},
		{
			name: "a budget whose pods are not ready",
			faults: []fault{objects(app{name: "sick", replicas: 2, container: `, readinessProbe: {exec: {command: [sh, -c, exit 1]}}`}.manifest(),
				budget("sick", "sick", "maxUnavailable: 1"))},
			want: []want{{check: "BudgetExhausted", object: "PodDisruptionBudget shop/sick", weighs: warn}},
		},
		{
			name:   "a budget that matches nothing",
			faults: []fault{objects(budget("nothing", "nothing", "minAvailable: 1"))},
			want:   []want{{check: "BudgetMatchesNothing", object: "PodDisruptionBudget shop/nothing", weighs: info}},
		},
	}
}

func workloadDefects() []defect {
	const hold = `finalizers: [example.com/hold]`
	return []defect{
		{
			name: "a pod that belongs to nobody",
			faults: []fault{objects(`{apiVersion: v1, kind: Pod, metadata: {name: bare, namespace: shop}, spec: {terminationGracePeriodSeconds: 0, nodeName: check-worker-1,
				containers: [` + idle + `]}}`)},
			want: []want{{check: "UnmanagedPod", object: "Pod shop/bare"}},
		},
		{
			name:   "a single pod that is bound to its node",
			faults: []fault{objects(app{name: "local", replicas: 1, pod: onFirstWorker}.manifest())},
			want:   []want{{check: "PodNodeBound", object: "Deployment shop/local", weighs: warn}},
		},
		{
			name:   "pods that end only when somebody lets them",
			faults: []fault{letGo("held"), objects(app{name: "held", replicas: 1, meta: hold}.manifest())},
			want:   []want{{check: "PodHasFinalizer", object: "Deployment shop/held", weighs: warn}},
		},
		{
			// No kubelet terminates a pod on a node without a machine.
			name: "a pod that was asked to end and does not",
			faults: []fault{
				pretended("silent", func(*corev1.NodeStatus) {}), letGo("stuck"),
				stuck(app{name: "stuck", replicas: 1, pod: "nodeName: silent\nterminationGracePeriodSeconds: 1"}),
			},
			want: []want{{check: "PodStuckTerminating", object: "Deployment shop/stuck", weighs: warn}},
			also: []also{notReadySoon("silent")},
		},
		{
			name:   "a pod that takes an hour to end",
			faults: []fault{objects(app{name: "slow", replicas: 1, pod: "terminationGracePeriodSeconds: 3600"}.manifest())},
			want:   []want{{check: "DrainExceedsTimeout", object: "Node check-worker-1", weighs: warn}},
			alone:  "a node that cannot be drained at all has no time that it takes",
		},
		{
			name: "a pod that says it is not safe to evict",
			faults: []fault{objects(app{
				name: "shy", replicas: 1,
				meta: `annotations: {cluster-autoscaler.kubernetes.io/safe-to-evict: "false"}`,
			}.manifest())},
			want: []want{{check: "PodNotSafeToEvict", object: "Deployment shop/shy", weighs: warn}},
		},
		{
			name:   "pods that fit on no other node",
			faults: []fault{objects(app{name: "large", replicas: 2, container: `, resources: {requests: {cpu: 1500m}}`}.manifest())},
			want:   []want{{check: "NoCapacity", object: "Pool default", weighs: warn}},
		},
		{
			name: "a volume that the target cannot mount",
			faults: []fault{objects(app{
				name: "clone", replicas: 1,
				pod: `volumes: [{name: code, gitRepo: {repository: "https://git.example.com/code"}}]`,
			}.manifest())},
			want: []want{{check: "GitRepoVolume", object: "Deployment shop/clone"}},
		},
		{
			name:   "a pod of the system that is not ready",
			faults: []fault{objects(app{name: "half", namespace: "kube-system", replicas: 1, container: `, readinessProbe: {exec: {command: [sh, -c, exit 1]}}`}.manifest())},
			want:   []want{{check: "SystemPodsNotReady", object: "Deployment kube-system/half", weighs: warn}},
		},
	}
}

// ownedByConfigMap returns a pod whose owner has no scale, so that no PDB can compute the expected
// count.
func ownedByConfigMap(name string) fault {
	owner := fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, namespace: %s}}", name, shop)
	return fault{
		seed: func(ctx context.Context, b *bed) error {
			if err := b.apply(ctx, owner); err != nil {
				return err
			}
			found, err := b.client.CoreV1().ConfigMaps(shop).Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			return b.apply(ctx, fmt.Sprintf(`{apiVersion: v1, kind: Pod, metadata: {name: %[1]s, namespace: %[2]s, labels: {app: %[1]s},
				ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: %[1]s, uid: %[3]s, controller: true}]},
				spec: {nodeName: check-worker-1, terminationGracePeriodSeconds: 0, containers: [%[4]s]}}`,
				name, shop, found.UID, idle))
		},
		restore: func(ctx context.Context, b *bed) error { // garbage collection deletes the pod
			if err := b.remove(ctx, owner); err != nil {
				return err
			}
			return b.remove(ctx, fmt.Sprintf("{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: %s}}", name, shop))
		},
	}
}

// stuck returns a Deployment that was deleted but whose pod stays.
func stuck(of app) fault {
	manifest := of.manifest()
	return fault{
		seed: func(ctx context.Context, b *bed) error {
			if err := b.apply(ctx, manifest); err != nil {
				return err
			}
			return until(ctx, "a pod that is deleted and stays", func(ctx context.Context) error {
				pods, err := b.pods(ctx, of.name)
				if err != nil {
					return err
				}
				if len(pods) == 1 && pods[0].DeletionTimestamp != nil {
					return nil
				}
				if len(pods) == 1 && pods[0].Spec.NodeName != "" {
					return errors.Join(errors.New("it is not yet asked to end"), b.remove(ctx, manifest))
				}
				return errors.New("it is not there")
			})
		},
		restore: func(ctx context.Context, b *bed) error { return b.remove(ctx, manifest) },
	}
}

// letGo force-deletes the pods of an app, including their finalizers, when the defect is removed.
func letGo(name string) fault {
	return fault{
		seed: func(context.Context, *bed) error { return nil },
		restore: func(ctx context.Context, b *bed) error {
			return until(ctx, "pods to be gone", func(ctx context.Context) error {
				pods, err := b.pods(ctx, name)
				if err != nil || len(pods) == 0 {
					return err
				}
				for _, p := range pods {
					_, err := b.client.CoreV1().Pods(shop).Patch(ctx, p.Name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
					if err == nil {
						err = b.client.CoreV1().Pods(shop).Delete(ctx, p.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
					}
					if err != nil && !apierrors.IsNotFound(err) {
						return err
					}
				}
				return fmt.Errorf("%d are left", len(pods))
			})
		},
	}
}

// rolledOut checks whether the pods of a Deployment are ready.
func rolledOut(namespace, name string) func(context.Context, *bed) error {
	return func(ctx context.Context, b *bed) error {
		_, err := b.Kubectl(ctx, nil, "--namespace="+namespace, "rollout", "status", "deployment/"+name, "--timeout=60s")
		return err
	}
}

func (b *bed) pods(ctx context.Context, app string) ([]corev1.Pod, error) {
	found, err := b.client.CoreV1().Pods(shop).List(ctx, metav1.ListOptions{LabelSelector: "app=" + app})
	if err != nil {
		return nil, err
	}
	return found.Items, nil
}
