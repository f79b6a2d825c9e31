package kubeadm

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// live is an object of the cluster as it is now.
type live struct {
	*content
	// restore writes a former content, unless the object has changed since it was read.
	restore func(ctx context.Context, before *content) error
}

// fetch reads an object; its content is nil where there is none.
func fetch(ctx context.Context, client kubernetes.Interface, o object) (live, error) {
	var found live
	var err error
	switch o.Kind {
	case daemonSet:
		found, err = fetchDaemonSet(ctx, client, o.Name)
	case deployment:
		found, err = fetchDeployment(ctx, client, o.Name)
	default:
		found, err = fetchConfigMap(ctx, client, o.Name)
	}
	if apierrors.IsNotFound(err) {
		return live{}, nil
	}
	return found, err
}

func fetchConfigMap(ctx context.Context, client kubernetes.Interface, name string) (live, error) {
	all := client.CoreV1().ConfigMaps(metav1.NamespaceSystem)
	now, err := all.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return live{}, err
	}
	return live{&content{UID: now.UID, Data: now.Data}, func(ctx context.Context, before *content) error {
		next := &corev1.ConfigMap{}
		now.DeepCopyInto(next)
		next.Data = before.Data
		_, err := all.Update(ctx, next, metav1.UpdateOptions{})
		return err
	}}, nil
}

func fetchDaemonSet(ctx context.Context, client kubernetes.Interface, name string) (live, error) {
	all := client.AppsV1().DaemonSets(metav1.NamespaceSystem)
	now, err := all.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return live{}, err
	}
	return live{&content{UID: now.UID, Generation: now.Generation, DaemonSet: &now.Spec}, func(ctx context.Context, before *content) error {
		next := &appsv1.DaemonSet{}
		now.DeepCopyInto(next)
		next.Spec = *before.DaemonSet
		_, err := all.Update(ctx, next, metav1.UpdateOptions{})
		return err
	}}, nil
}

func fetchDeployment(ctx context.Context, client kubernetes.Interface, name string) (live, error) {
	all := client.AppsV1().Deployments(metav1.NamespaceSystem)
	now, err := all.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return live{}, err
	}
	spec := now.Spec.DeepCopy()
	spec.Replicas = nil // An autoscaler's or an administrator's.
	return live{&content{UID: now.UID, Generation: now.Generation, Deployment: spec}, func(ctx context.Context, before *content) error {
		next := &appsv1.Deployment{}
		now.DeepCopyInto(next)
		next.Spec = *before.Deployment.DeepCopy()
		next.Spec.Replicas = now.Spec.Replicas
		_, err := all.Update(ctx, next, metav1.UpdateOptions{})
		return err
	}}, nil
}
