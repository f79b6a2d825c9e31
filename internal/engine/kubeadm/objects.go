package kubeadm

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"

	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

const (
	coreDNS     = "coredns"
	kubeProxy   = "kube-proxy"
	objectsFile = "objects.json"
)

// savedMaps are the ConfigMaps that the cluster-wide phases write. They hold no secrets; Secrets are never read.
var savedMaps = []string{"kubeadm-config", "kubelet-config", kubeProxy, coreDNS}

// savedObjects are the objects as they were. What was not there is not in it.
type savedObjects struct {
	ConfigMaps []corev1.ConfigMap `json:"configMaps"`
	KubeProxy  *appsv1.DaemonSet  `json:"kubeProxy,omitempty"`
	CoreDNS    *appsv1.Deployment `json:"coreDNS,omitempty"`
}

// SaveObjects saves the objects that the cluster-wide phases change. What was saved once is not saved again: by then the phases may have run.
func SaveObjects(ctx context.Context, client kubernetes.Interface, dir string) error {
	path := filepath.Join(dir, objectsFile)
	if _, err := loadObjects(path); err == nil {
		return nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var saved savedObjects
	for _, name := range savedMaps {
		object, err := client.CoreV1().ConfigMaps(metav1.NamespaceSystem).Get(ctx, name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return apiFailure(err, "saving ConfigMap %s", name)
		default:
			object.ManagedFields = nil
			saved.ConfigMaps = append(saved.ConfigMaps, *object)
		}
	}
	if object, err := client.AppsV1().DaemonSets(metav1.NamespaceSystem).Get(ctx, kubeProxy, metav1.GetOptions{}); err == nil {
		object.ManagedFields, object.Status = nil, appsv1.DaemonSetStatus{}
		saved.KubeProxy = object
	} else if !apierrors.IsNotFound(err) {
		return apiFailure(err, "saving DaemonSet %s", kubeProxy)
	}
	if object, err := client.AppsV1().Deployments(metav1.NamespaceSystem).Get(ctx, coreDNS, metav1.GetOptions{}); err == nil {
		object.ManagedFields, object.Status = nil, appsv1.DeploymentStatus{}
		saved.CoreDNS = object
	} else if !apierrors.IsNotFound(err) {
		return apiFailure(err, "saving Deployment %s", coreDNS)
	}
	text, err := json.Marshal(saved)
	if err != nil {
		return err
	}
	if err := durable.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return durable.WriteFile(path, text, 0o600)
}

// RestoreObjects puts the saved objects back as they were, as far as the phases change them. One that is gone stays gone: the phases delete nothing,
// so somebody wanted that. Nothing saved, nothing to do.
func RestoreObjects(ctx context.Context, client kubernetes.Interface, dir string) error {
	saved, err := loadObjects(filepath.Join(dir, objectsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for i := range saved.ConfigMaps {
		if err := restoreMap(ctx, client, &saved.ConfigMaps[i]); err != nil {
			return apiFailure(err, "putting ConfigMap %s back", saved.ConfigMaps[i].Name)
		}
	}
	if saved.KubeProxy != nil {
		if err := restoreProxy(ctx, client, saved.KubeProxy); err != nil {
			return apiFailure(err, "putting DaemonSet %s back", kubeProxy)
		}
	}
	if saved.CoreDNS != nil {
		if err := restoreDNS(ctx, client, saved.CoreDNS); err != nil {
			return apiFailure(err, "putting Deployment %s back", coreDNS)
		}
	}
	return nil
}

func loadObjects(path string) (*savedObjects, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var saved savedObjects
	if err := json.Unmarshal(text, &saved); err != nil {
		return nil, node.HostBroken("SavedObjectsBroken", err, "look at the disk of this host; compare the ConfigMaps of kube-system with "+path,
			"what was saved of the cluster's objects cannot be read")
	}
	return &saved, nil
}

func restoreMap(ctx context.Context, client kubernetes.Interface, saved *corev1.ConfigMap) error {
	maps := client.CoreV1().ConfigMaps(metav1.NamespaceSystem)
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		live, err := maps.Get(ctx, saved.Name, metav1.GetOptions{})
		if err != nil || equality.Semantic.DeepEqual(live.Data, saved.Data) {
			return ignoreAbsent(err)
		}
		live.Data = saved.Data
		_, err = maps.Update(ctx, live, metav1.UpdateOptions{})
		return err
	})
}

func restoreProxy(ctx context.Context, client kubernetes.Interface, saved *appsv1.DaemonSet) error {
	sets := client.AppsV1().DaemonSets(metav1.NamespaceSystem)
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		live, err := sets.Get(ctx, saved.Name, metav1.GetOptions{})
		if err != nil || equality.Semantic.DeepEqual(live.Spec, saved.Spec) {
			return ignoreAbsent(err)
		}
		live.Spec = saved.Spec
		_, err = sets.Update(ctx, live, metav1.UpdateOptions{})
		return err
	})
}

func restoreDNS(ctx context.Context, client kubernetes.Interface, saved *appsv1.Deployment) error {
	deployments := client.AppsV1().Deployments(metav1.NamespaceSystem)
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		live, err := deployments.Get(ctx, saved.Name, metav1.GetOptions{})
		if err != nil {
			return ignoreAbsent(err)
		}
		want := saved.Spec.DeepCopy()
		want.Replicas = live.Spec.Replicas // an autoscaler's or a person's; the phases leave it alone
		if equality.Semantic.DeepEqual(live.Spec, *want) {
			return nil
		}
		live.Spec = *want
		_, err = deployments.Update(ctx, live, metav1.UpdateOptions{})
		return err
	})
}

func ignoreAbsent(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
