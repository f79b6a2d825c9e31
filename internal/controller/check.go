package controller

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Check checks an installation with the permissions of the controller: the API server serves each
// kind, and controllers lead. It waits for them until the context ends.
func Check(ctx context.Context, config *rest.Config, progress io.Writer) error {
	c, err := client.New(config, client.Options{Scheme: scheme()})
	if err != nil {
		return fmt.Errorf("cannot connect to the cluster: %w", err)
	}
	for _, kind := range []struct {
		name string
		list client.ObjectList
	}{
		{"ClusterUpgrades", &refitv1alpha1.ClusterUpgradeList{}},
		{"NodeUpgrades", &refitv1alpha1.NodeUpgradeList{}},
		{"NodeReports", &refitv1alpha1.NodeReportList{}},
		{"ClusterReleases", &refitv1alpha1.ClusterReleaseList{}},
		{"BackupStores", &refitv1alpha1.BackupStoreList{}},
		{"EtcdBackups", &refitv1alpha1.EtcdBackupList{}},
		{"MaintenanceWindows", &refitv1alpha1.MaintenanceWindowList{}},
	} {
		if err := c.List(ctx, kind.list, client.Limit(1)); err != nil {
			return fmt.Errorf("cannot list %s: %w", kind.name, err)
		}
		fmt.Fprintf(progress, "The API server serves %s.\n", kind.name)
	}
	leader, err := awaitLeader(ctx, c)
	if err != nil {
		return err
	}
	fmt.Fprintf(progress, "%s leads.\n", leader)
	return nil
}

// awaitLeader waits until controllers renew the Lease, and returns their identity. It compares no
// clocks: only a renewal in this time counts.
func awaitLeader(ctx context.Context, c client.Client) (string, error) {
	var lease coordinationv1.Lease
	var first *metav1.MicroTime
	notRenewed := errors.New("no controller renews the Lease")
	problem := notRenewed
	err := wait.PollUntilContextCancel(ctx, time.Second, true, func(ctx context.Context) (bool, error) {
		if err := c.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: Name}, &lease); err != nil {
			problem = err
			return false, nil //nolint:nilerr // retried until the context ends
		}
		problem = notRenewed
		if first == nil {
			first = lease.Spec.RenewTime.DeepCopy()
		}
		held := lease.Spec.HolderIdentity != nil && *lease.Spec.HolderIdentity != ""
		return held && first != nil && lease.Spec.RenewTime != nil && !lease.Spec.RenewTime.Equal(first), nil
	})
	if err != nil {
		return "", fmt.Errorf("no controllers lead: %w", problem)
	}
	return *lease.Spec.HolderIdentity, nil
}
