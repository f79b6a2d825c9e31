package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/retry"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/backup/store"
	"github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/internal/upgrade/etcdbackup"
)

// Cluster reads objects with the administrator's kubeconfig, which only control plane hosts have:
// the identity of a node may read neither BackupStores nor Secrets.
type Cluster struct {
	// Kubeconfig is read with each request: kubeadm replaces it.
	Kubeconfig string
	// CredentialsDir is the directory of credentials on this host.
	CredentialsDir string
	// PinsFile has the recipients and locations that this host allows.
	PinsFile string
	// Node is the name of this host's Node.
	Node      string
	UserAgent string
}

// objectTimeout is the timeout of a request.
const objectTimeout = 15 * time.Second

// EtcdBackup reads an EtcdBackup.
func (c *Cluster) EtcdBackup(ctx context.Context, name string) (*refitv1alpha1.EtcdBackup, error) {
	found := &refitv1alpha1.EtcdBackup{}
	return found, c.get(ctx, refitv1alpha1.GroupVersion, "", "etcdbackups", name, found)
}

// EtcdBackups lists all EtcdBackups.
func (c *Cluster) EtcdBackups(ctx context.Context) ([]refitv1alpha1.EtcdBackup, error) {
	list := &refitv1alpha1.EtcdBackupList{}
	if err := c.list(ctx, "etcdbackups", list); err != nil {
		return nil, err
	}
	return list.Items, nil
}

// ClusterUpgrades lists all ClusterUpgrades.
func (c *Cluster) ClusterUpgrades(ctx context.Context) ([]refitv1alpha1.ClusterUpgrade, error) {
	list := &refitv1alpha1.ClusterUpgradeList{}
	if err := c.list(ctx, "clusterupgrades", list); err != nil {
		return nil, err
	}
	return list.Items, nil
}

// BackupStore reads a BackupStore.
func (c *Cluster) BackupStore(ctx context.Context, name string) (*refitv1alpha1.BackupStore, error) {
	found := &refitv1alpha1.BackupStore{}
	return found, c.get(ctx, refitv1alpha1.GroupVersion, "", "backupstores", name, found)
}

// BackupStores lists all BackupStores.
func (c *Cluster) BackupStores(ctx context.Context) ([]refitv1alpha1.BackupStore, error) {
	list := &refitv1alpha1.BackupStoreList{}
	if err := c.list(ctx, "backupstores", list); err != nil {
		return nil, err
	}
	return list.Items, nil
}

// ClusterUID returns the UID of the namespace kube-system.
func (c *Cluster) ClusterUID(ctx context.Context) (string, error) {
	found := &corev1.Namespace{}
	err := c.get(ctx, corev1.SchemeGroupVersion, "", "namespaces", "kube-system", found)
	return string(found.UID), err
}

// MarkDeleted records in the status of an EtcdBackup that its stored attempt is deleted.
func (c *Cluster) MarkDeleted(ctx context.Context, name string, id backup.ID, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, 2*objectTimeout)
	defer cancel()
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		current, err := c.EtcdBackup(ctx, name)
		if err != nil || !etcdbackup.MarkDeleted(current, id, now) {
			return err
		}
		// A patch keeps the fields that an older agent does not have.
		body, err := json.Marshal(map[string]any{
			"metadata": map[string]any{"resourceVersion": current.ResourceVersion}, "status": map[string]any{"deleted": current.Status.Deleted},
		})
		if err != nil {
			return err
		}
		client, err := c.client(refitv1alpha1.GroupVersion)
		if err != nil {
			return err
		}
		return client.Patch(types.MergePatchType).Resource("etcdbackups").Name(name).SubResource("status").Body(body).Do(ctx).Error()
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("cannot record that EtcdBackup %s is deleted, so its objects stay: %w", name, err)
	}
	return nil
}

// clientURLs is the annotation with the client URLs of a member, which kubeadm writes and reads.
const clientURLs = "kubeadm.kubernetes.io/etcd.advertise-client-urls"

// EtcdEndpoints returns the client URLs of the etcd members in static pods, by node.
func (c *Cluster) EtcdEndpoints(ctx context.Context) (map[string][]string, error) {
	ctx, cancel := context.WithTimeout(ctx, objectTimeout)
	defer cancel()
	client, err := c.client(corev1.SchemeGroupVersion)
	if err != nil {
		return nil, err
	}
	pods := &corev1.PodList{}
	request := client.Get().Namespace("kube-system").Resource("pods").Param("labelSelector", "component=etcd,tier=control-plane")
	if err := request.Do(ctx).Into(pods); err != nil {
		return nil, fmt.Errorf("cannot list the pods of etcd: %w", err)
	}
	out := map[string][]string{}
	for i := range pods.Items {
		if urls := pods.Items[i].Annotations[clientURLs]; urls != "" {
			out[pods.Items[i].Spec.NodeName] = strings.Split(urls, ",")
		}
	}
	return out, nil
}

// Credentials reads the file of the name on this host or, without one, the Secret of the name.
func (c *Cluster) Credentials(ctx context.Context, name string) (store.Credentials, error) {
	found, err := readCredentials(c.CredentialsDir, name)
	if !errors.Is(err, fs.ErrNotExist) {
		return found, err
	}
	secret := &corev1.Secret{}
	err = c.get(ctx, corev1.SchemeGroupVersion, refitv1alpha1.BackupNamespace, "secrets", name, secret)
	if apierrors.IsNotFound(err) {
		return nil, missing(c.CredentialsDir, name, nil)
	}
	if err != nil {
		return nil, objectFailure(err, "Secret "+refitv1alpha1.BackupNamespace+"/"+name)
	}
	return store.SecretCredentials(secret)
}

func (c *Cluster) get(ctx context.Context, group schema.GroupVersion, namespace, resource, name string, into runtime.Object) error {
	ctx, cancel := context.WithTimeout(ctx, objectTimeout)
	defer cancel()
	client, err := c.client(group)
	if err != nil {
		return err
	}
	request := client.Get().Resource(resource).Name(name)
	if namespace != "" {
		request = request.Namespace(namespace)
	}
	if err := request.Do(ctx).Into(into); err != nil {
		return fmt.Errorf("cannot read %s %s: %w", resource, name, err)
	}
	return nil
}

// list lists all objects of a resource of Refit.
func (c *Cluster) list(ctx context.Context, resource string, into runtime.Object) error {
	ctx, cancel := context.WithTimeout(ctx, objectTimeout)
	defer cancel()
	client, err := c.client(refitv1alpha1.GroupVersion)
	if err != nil {
		return err
	}
	if err := client.Get().Resource(resource).Do(ctx).Into(into); err != nil {
		return fmt.Errorf("cannot list %s: %w", resource, err)
	}
	return nil
}

func (c *Cluster) client(group schema.GroupVersion) (*rest.RESTClient, error) {
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("cannot read the administrator's kubeconfig: %w", err)
	}
	config.UserAgent, config.ContentType = c.UserAgent, runtime.ContentTypeJSON
	config.APIPath, config.GroupVersion = "/apis", &group
	if group == corev1.SchemeGroupVersion {
		config.APIPath = "/api"
	}
	known := runtime.NewScheme()
	_ = refitv1alpha1.AddToScheme(known) // it cannot fail
	known.AddKnownTypes(corev1.SchemeGroupVersion, &corev1.Secret{}, &corev1.Namespace{}, &corev1.PodList{})
	config.NegotiatedSerializer = serializer.NewCodecFactory(known).WithoutConversion()
	return rest.RESTClientFor(config)
}
