package restore

import (
	"context"

	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// replaceMember removes the lost member and adds this host as a learner, which does not count for
// the quorum until it has the data. etcd refuses changes until its members have been connected for
// some seconds.
func (r *Restore) replaceMember(ctx context.Context) error {
	manifest, err := r.manifest(kubeadm.Etcd)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, r.Timeouts.Etcd)
	defer cancel()
	err = r.poll(ctx, func(ctx context.Context) error {
		return r.Machine.ReplaceMember(ctx, manifest, r.self(), r.Plan.Members)
	})
	if err != nil {
		return node.ManualIntervention("EtcdNotServing", err, "Check the other members (`etcdctl endpoint health --cluster`), then run the same command again",
			"etcd does not accept a new member")
	}
	return nil
}

// joinEtcd starts etcd without data, waits until it has copied that of the others, and promotes it.
func (r *Restore) joinEtcd(ctx context.Context) error {
	manifest, err := r.manifest(kubeadm.Etcd)
	if err != nil {
		return err
	}
	if !exists(r.live(kubeadm.Etcd)) {
		if err := r.writeJoining(ctx, manifest); err != nil {
			return err
		}
	}
	r.point("join-etcd/manifest")
	ctx, cancel := context.WithTimeout(ctx, r.Timeouts.Etcd)
	defer cancel()
	err = r.poll(ctx, func(ctx context.Context) error { return r.Machine.Promote(ctx, manifest, r.self(), r.Plan.Members) })
	if err == nil {
		err = r.poll(ctx, func(ctx context.Context) error { return r.missing(ctx, r.Plan.Member) })
	}
	if err != nil {
		return node.ManualIntervention("EtcdNotServing", err,
			"Read the log of etcd on this host (`crictl ps -a`, `crictl logs`), then run the same command again",
			"the new member does not get the data of the others")
	}
	return nil
}

// writeJoining writes the manifest of etcd with the flags of a member that joins. etcd ignores them
// once it has data.
func (r *Restore) writeJoining(ctx context.Context, manifest []byte) error {
	cluster, err := r.Machine.InitialCluster(ctx, manifest, r.self(), r.Plan.Members)
	if err != nil {
		return err
	}
	joining, err := kubeadm.SetFlags(manifest, map[string]string{"initial-cluster": cluster, "initial-cluster-state": "existing"})
	if err != nil {
		return err
	}
	attributes, err := durable.AttributesOf(r.parked(kubeadm.Etcd))
	if err != nil {
		return durable.Explain(err, "read", r.parked(kubeadm.Etcd))
	}
	return r.put(kubeadm.Etcd, func(path string) error { return durable.WriteFileWith(path, joining, attributes) })
}
