package operations

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/internal/upgrade/etcdbackup"
	"github.com/refit-dev/refit/internal/upgrade/progress"
)

// Backups returns all EtcdBackups.
func (c *Cluster) Backups(ctx context.Context) ([]refitv1alpha1.EtcdBackup, error) {
	var out []refitv1alpha1.EtcdBackup
	for token, more := "", true; more; more = token != "" {
		var page refitv1alpha1.EtcdBackupList
		if err := c.Client.List(ctx, &page, client.Limit(ordersPerPage), client.Continue(token)); err != nil {
			return nil, c.unreadable("EtcdBackups", err)
		}
		out, token = append(out, page.Items...), page.Continue
	}
	return out, nil
}

var errNoBackup = errors.New("there is no EtcdBackup")

// EtcdBackup returns one EtcdBackup.
func (c *Cluster) EtcdBackup(ctx context.Context, name string) (*refitv1alpha1.EtcdBackup, error) {
	out := &refitv1alpha1.EtcdBackup{}
	err := c.Client.Get(ctx, client.ObjectKey{Name: name}, out)
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("%w %s in %s: `%s backup list` lists them", errNoBackup, name, c.Name, c.Command)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read EtcdBackup %s: %w", name, err)
	}
	return out, nil
}

// BackupStore returns a BackupStore.
func (c *Cluster) BackupStore(ctx context.Context, name string) (*refitv1alpha1.BackupStore, error) {
	out := &refitv1alpha1.BackupStore{}
	err := c.Client.Get(ctx, client.ObjectKey{Name: name}, out)
	if apierrors.IsNotFound(err) {
		remedy := "create it, or name another with --store"
		if name == etcdbackup.LocalStore {
			remedy = fmt.Sprintf("`%s install` creates it", c.Command)
		}
		return nil, fmt.Errorf("there is no BackupStore %s in %s: %s", name, c.Name, remedy)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read BackupStore %s: %w", name, err)
	}
	return out, nil
}

// BackupStores returns all BackupStores.
func (c *Cluster) BackupStores(ctx context.Context) ([]refitv1alpha1.BackupStore, error) {
	var out refitv1alpha1.BackupStoreList
	if err := c.Client.List(ctx, &out); err != nil {
		return nil, c.unreadable("BackupStores", err)
	}
	return out.Items, nil
}

// BackupSecret returns the Secret with the credentials of a BackupStore.
func (c *Cluster) BackupSecret(ctx context.Context, name string) (*corev1.Secret, error) {
	out := &corev1.Secret{}
	err := c.Client.Get(ctx, client.ObjectKey{Namespace: refitv1alpha1.BackupNamespace, Name: name}, out)
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("there is no Secret %s/%s in %s. Create it, or use `refit-agent backup` on a control plane host that has them in a file",
			refitv1alpha1.BackupNamespace, name, c.Name)
	}
	if apierrors.IsForbidden(err) {
		return nil, fmt.Errorf("you may not get Secret %s/%s, which has the credentials of the store, and no ClusterRole of Refit allows it. "+
			"Ask an administrator for the permission: `kubectl create role %s --namespace %s --verb get --resource secrets --resource-name %s; "+
			"kubectl create rolebinding %s --namespace %s --role %s --user USER`. Or use `refit-agent backup` on a control plane host: %w",
			refitv1alpha1.BackupNamespace, name, name, refitv1alpha1.BackupNamespace, name, name, refitv1alpha1.BackupNamespace, name, err)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read Secret %s/%s: %w", refitv1alpha1.BackupNamespace, name, err)
	}
	return out, nil
}

// ClusterUID returns the UID of the namespace kube-system, which identifies the cluster.
func (c *Cluster) ClusterUID(ctx context.Context) (string, error) {
	out := &corev1.Namespace{}
	if err := c.Client.Get(ctx, client.ObjectKey{Name: metav1.NamespaceSystem}, out); err != nil {
		return "", fmt.Errorf("cannot read the namespace %s: %w", metav1.NamespaceSystem, err)
	}
	return string(out.UID), nil
}

// ProveIdentity records in a BackupStore that the identities of recipients have decrypted a backup.
// It returns false if the store has none of these recipients any more.
func (c *Cluster) ProveIdentity(ctx context.Context, store, name string, recipients []string) (proven bool, err error) {
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		current := &refitv1alpha1.BackupStore{}
		if err := c.Client.Get(ctx, client.ObjectKey{Name: store}, current); err != nil {
			return err
		}
		patch := client.MergeFromWithOptions(current.DeepCopy(), client.MergeFromWithOptimisticLock{})
		if proven = backup.Prove(current, name, recipients, c.Now()); !proven {
			return nil
		}
		return c.Client.Status().Patch(ctx, current, patch)
	})
	if err != nil {
		return false, fmt.Errorf("cannot write the status of BackupStore %s: %w", store, err)
	}
	return proven, nil
}

// MayMarkDeleted returns an error if the user may not record that backups are deleted.
func (c *Cluster) MayMarkDeleted(ctx context.Context) error {
	allowed, err := c.allowed(ctx, "patch", "etcdbackups", "status")
	if err == nil && !allowed {
		err = errors.New("you may not patch etcdbackups/status, which records that a backup is deleted, so nothing was deleted. " +
			"Ask an administrator for the ClusterRole refit-approver: `kubectl create clusterrolebinding NAME --clusterrole refit-approver --user USER`")
	}
	return err
}

// MarkDeleted records in the status of an EtcdBackup that its stored attempt is deleted.
func (c *Cluster) MarkDeleted(ctx context.Context, name string, id backup.ID) error {
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		current := &refitv1alpha1.EtcdBackup{}
		if err := c.Client.Get(ctx, client.ObjectKey{Name: name}, current); err != nil {
			return err
		}
		patch := client.MergeFromWithOptions(current.DeepCopy(), client.MergeFromWithOptimisticLock{})
		if !etcdbackup.MarkDeleted(current, id, c.Now()) {
			return nil
		}
		return c.Client.Status().Patch(ctx, current, patch)
	})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("cannot record that EtcdBackup %s is deleted, so its objects stay: %w", name, err)
	}
	return nil
}

// ListBackups describes all backups.
func (c *Cluster) ListBackups(ctx context.Context) (*cliv1alpha1.Backups, error) {
	all, err := c.Backups(ctx)
	if err != nil {
		return nil, err
	}
	stores, err := c.knownStores(ctx)
	if err != nil {
		return nil, err
	}
	return progress.NewBackups(c.Name, all, stores), nil
}

// ShowBackup describes one backup.
func (c *Cluster) ShowBackup(ctx context.Context, name string) (*cliv1alpha1.Backup, error) {
	b, order, err := c.backupAndOrder(ctx, name)
	if err != nil {
		return nil, err
	}
	stores, err := c.knownStores(ctx)
	if err != nil {
		return nil, err
	}
	return progress.ShowBackup(c.Name, b, order, stores), nil
}

// knownStores returns the BackupStores, or none if the user may not list them.
func (c *Cluster) knownStores(ctx context.Context) ([]refitv1alpha1.BackupStore, error) {
	stores, err := c.BackupStores(ctx)
	if apierrors.IsForbidden(err) {
		return nil, nil
	}
	return stores, err
}

// backupAndOrder reads an EtcdBackup, and the order of the node that takes it now, if there is one.
func (c *Cluster) backupAndOrder(ctx context.Context, name string) (*refitv1alpha1.EtcdBackup, *refitv1alpha1.NodeUpgrade, error) {
	b, err := c.EtcdBackup(ctx, name)
	if err != nil || b.Status.StartTime == nil {
		return b, nil, err
	}
	order := &refitv1alpha1.NodeUpgrade{}
	switch err := c.Client.Get(ctx, client.ObjectKey{Name: b.Status.Node}, order); {
	case apierrors.IsNotFound(err):
		return b, nil, nil
	case err != nil:
		return nil, nil, fmt.Errorf("cannot read NodeUpgrade %s: %w", b.Status.Node, err)
	}
	return b, order, nil
}

// CreateBackup creates an EtcdBackup. It is named after the time, with a number if the name is
// taken.
func (c *Cluster) CreateBackup(ctx context.Context, prefix string, spec refitv1alpha1.EtcdBackupSpec) (*refitv1alpha1.EtcdBackup, error) {
	base := prefix + "-" + c.Now().UTC().Format("20060102-1504")
	for n, name := 2, base; ; n, name = n+1, base+"-"+strconv.Itoa(n) {
		created := &refitv1alpha1.EtcdBackup{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}
		err := c.Client.Create(ctx, created)
		switch {
		case err == nil:
			return created, nil
		case !apierrors.IsAlreadyExists(err):
			return nil, fmt.Errorf("cannot create the EtcdBackup: %w", err)
		}
	}
}
