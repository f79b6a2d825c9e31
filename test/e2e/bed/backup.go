package bed

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/refit-dev/refit/test/testbed/cluster"
)

const backupFile = "/var/backup.db"

// BackUpEtcd saves a snapshot of the only etcd member on its host.
func (b *Bed) BackUpEtcd(ctx context.Context, cp *cluster.Node) error {
	parts, err := b.Release(ctx, Newer)
	if err != nil {
		return err
	}
	for _, tool := range []string{"etcdctl", "etcdutl"} {
		if err := cp.CopyTo(ctx, filepath.Join(parts.EtcdBin, tool), "/root/"+tool); err != nil {
			return err
		}
	}
	pki := "/etc/kubernetes/pki/etcd/"
	_, err = cp.Exec(ctx, "/root/etcdctl", "--endpoints=https://127.0.0.1:2379", "--cacert="+pki+"ca.crt",
		"--cert="+pki+"server.crt", "--key="+pki+"server.key", "snapshot", "save", backupFile)
	return err
}

// RestoreEtcd restores that snapshot as the documentation of Kubernetes describes: stop the API
// server and etcd, replace the data, start both, and restart the kubelets.
func (b *Bed) RestoreEtcd(ctx context.Context, cp *cluster.Node) error {
	if err := moveManifests(ctx, cp, "/etc/kubernetes/manifests/", "/root/"); err != nil {
		return err
	}
	for _, component := range []string{"kube-apiserver", "etcd"} {
		err := Until(ctx, component+" to end", CheckTimeout, func(ctx context.Context) error {
			if _, err := cp.Exec(ctx, "pgrep", "--exact", component); err == nil {
				return errors.New("it still runs")
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	peer := fmt.Sprintf("https://%s:2380", cp.Address())
	for _, argv := range [][]string{
		{"rm", "-rf", "/var/lib/etcd/member"},
		{
			"/root/etcdutl", "snapshot", "restore", backupFile, "--data-dir=/var/lib/etcd/restored", "--name=" + cp.Name(),
			"--initial-cluster=" + cp.Name() + "=" + peer, "--initial-advertise-peer-urls=" + peer, "--bump-revision=1000000", "--mark-compacted",
		},
		{"mv", "/var/lib/etcd/restored/member", "/var/lib/etcd/member"},
	} {
		if _, err := cp.Exec(ctx, argv...); err != nil {
			return err
		}
	}
	if err := moveManifests(ctx, cp, "/root/", "/etc/kubernetes/manifests/"); err != nil {
		return err
	}
	var errs []error
	for _, n := range b.Nodes() {
		_, err := n.Exec(ctx, "systemctl", "restart", "kubelet")
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func moveManifests(ctx context.Context, cp *cluster.Node, from, to string) error {
	for _, component := range []string{"kube-apiserver", "etcd"} {
		if _, err := cp.Exec(ctx, "mv", from+component+".yaml", to+component+".yaml"); err != nil {
			return err
		}
	}
	return nil
}
