package restore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

func (r *Restore) stopAPIServer(ctx context.Context) error { return r.park(ctx, kubeadm.APIServer) }

// stopEtcd also restarts the kubelet. A kubelet that has not reached the API since its start does
// not start a static pod whose predecessor it has not ended.
//
// A kubelet that was just restarting etcd when the manifest was removed may start one more
// container. So etcd must be stopped when a kubelet runs that has never seen the manifest.
func (r *Restore) stopEtcd(ctx context.Context) error {
	if err := r.park(ctx, kubeadm.Etcd); err != nil {
		return err
	}
	if err := r.Machine.RestartKubelet(ctx); err != nil {
		return err
	}
	if err := r.Machine.AwaitStopped(ctx, kubeadm.Etcd); err != nil {
		return err
	}
	return r.awaitUnlocked(ctx)
}

// awaitUnlocked waits until no etcd uses the data of this host, in whatever container it runs.
func (r *Restore) awaitUnlocked(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, r.Timeouts.Etcd)
	defer cancel()
	database := filepath.Join(r.member(), "snap", "db")
	err := r.poll(ctx, func(context.Context) error { return unlocked(database) })
	if err != nil {
		return node.ManualIntervention("EtcdRuns", err,
			"Find the process (`fuser "+database+"`) and end it, then run the same command again", "an etcd still uses %s", database)
	}
	return nil
}

// unlocked returns an error if an etcd has locked a database. One that is missing or cannot be
// opened, such as on a damaged file system, proves nothing: the container has ended.
func unlocked(database string) error {
	file, err := os.Open(database)
	if err != nil {
		return nil
	}
	defer file.Close()
	if err := unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		return fmt.Errorf("a process has locked %s", database)
	}
	return nil
}
