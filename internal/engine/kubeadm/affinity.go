package kubeadm

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"
)

// keepAffinity restores the affinity of kube-proxy after the phase, which replaces the DaemonSet
// and sets none. Users set one to keep kube-proxy off virtual nodes: its pod never becomes ready
// there, and the rolling update stops before the pods of other nodes.
func (r *objectRecords) keepAffinity(ctx context.Context, client kubernetes.Interface) error {
	resource := object{daemonSet, kubeProxy}
	before := r.of(resource).Before
	if before == nil || before.DaemonSet == nil || before.DaemonSet.Template.Spec.Affinity == nil {
		return nil
	}
	all := client.AppsV1().DaemonSets(metav1.NamespaceSystem)
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		now, err := all.Get(ctx, kubeProxy, metav1.GetOptions{})
		if err != nil || now.Spec.Template.Spec.Affinity != nil {
			return err
		}
		now.Spec.Template.Spec.Affinity = before.DaemonSet.Template.Spec.Affinity
		_, err = all.Update(ctx, now, metav1.UpdateOptions{})
		return err
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return apiFailure(err, "cannot restore %s", resource)
	}
	return nil
}
