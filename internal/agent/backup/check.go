package backup

import (
	"context"

	enginebackup "github.com/refit-dev/refit/internal/engine/backup"
	"github.com/refit-dev/refit/internal/engine/backup/seal"
	"github.com/refit-dev/refit/internal/engine/backup/store"
	"github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/internal/upgrade/etcdbackup"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// PinsFile is the file with the recipients and locations that a host allows.
const PinsFile = "/etc/refit/backup/stores.yaml"

// check reads and checks everything that the backup depends on, before anything is written.
func (a *Attempt) check(ctx context.Context) error {
	if err := a.begin(ctx, stepCheck); err != nil {
		return err
	}
	for _, check := range []func(context.Context) error{a.checkRequest, a.checkStore, a.checkMember, a.checkTrial, a.openStore, a.checkSpace} {
		if err := check(ctx); err != nil {
			return err
		}
	}
	return nil
}

// checkRequest requires that the EtcdBackup still exists: its UID is part of every object's key.
func (a *Attempt) checkRequest(ctx context.Context) error {
	request, err := a.manager.Environment.Objects.EtcdBackup(ctx, a.ref.Name)
	if err != nil {
		return objectFailure(err, "EtcdBackup "+a.ref.Name)
	}
	if request.UID != a.ref.UID || request.Spec.Store != a.ref.Store || !request.DeletionTimestamp.IsZero() {
		return node.ManualIntervention("BackupDeleted", nil, "Create another EtcdBackup", "EtcdBackup %s is not the one that was ordered", a.ref.Name)
	}
	a.request = request.Spec
	uid, err := a.manager.Environment.Objects.ClusterUID(ctx)
	if err != nil {
		return objectFailure(err, "namespace kube-system")
	}
	a.clusterUID = uid
	return nil
}

// checkStore refuses recipients and locations that are not pinned on this host.
func (a *Attempt) checkStore(ctx context.Context) error {
	found, err := a.manager.Environment.Objects.BackupStore(ctx, a.ref.Store)
	if err != nil {
		return objectFailure(err, "BackupStore "+a.ref.Store)
	}
	a.spec = found.Spec
	pins, err := a.manager.Environment.Pins()
	if err != nil {
		return err
	}
	if err := pins.Check(&a.spec); err != nil {
		return node.ManualIntervention("StoreNotPinned", err,
			"Find out who wrote the BackupStore. If it is right, add recipients and locations to "+PinsFile+" on every control plane host",
			"this host does not allow BackupStore %s", a.ref.Store)
	}
	if _, err := seal.Recipients(a.spec.Recipients); err != nil {
		return node.ManualIntervention("RecipientInvalid", err, "Fix spec.recipients of the BackupStore",
			"a recipient of BackupStore %s is not valid", a.ref.Store)
	}
	return nil
}

// checkMember requires a healthy follower, or the only member: a snapshot of the leader would slow
// down every write.
func (a *Attempt) checkMember(ctx context.Context) error {
	member, err := a.manager.Environment.Dial(ctx)
	if err != nil {
		return node.ManualIntervention("EtcdUnreachable", err, "Check that etcd runs on this host: `crictl ps -a`", "cannot connect to etcd on this host")
	}
	a.member = member
	facts, err := member.Facts(ctx)
	switch {
	case err != nil:
		return node.Transient("EtcdUnreachable", err, "Check that etcd runs on this host: `crictl ps -a`", "cannot query etcd on this host")
	case !facts.Healthy || facts.Learner:
		return node.Transient("EtcdMemberUnhealthy", nil, "Check the log of etcd on this host: `crictl logs`",
			"the etcd member on this host is unhealthy or a learner")
	case facts.Leader && len(facts.Members) > 1:
		return node.Transient("EtcdLeader", nil, "Refit tries another node", "the etcd member on this host has become the leader")
	}
	local, err := member.Local(ctx)
	if err != nil {
		return node.Transient("EtcdUnreachable", err, "Check that etcd runs on this host: `crictl ps -a`", "cannot query etcd on this host")
	}
	a.version, a.size = local.Version, local.DBSize
	return nil
}

// openStore opens the store and checks that it answers.
func (a *Attempt) openStore(ctx context.Context) error {
	var credentials store.Credentials
	if a.spec.Credentials != "" {
		var err error
		if credentials, err = a.manager.Environment.Objects.Credentials(ctx, a.spec.Credentials); err != nil {
			return err
		}
	}
	opened, err := a.manager.Environment.OpenStore(&a.spec, credentials)
	if err != nil {
		return node.ManualIntervention("StoreInvalid", err, "Fix BackupStore "+a.ref.Store+" or its credentials",
			"cannot open the store %s", etcdbackup.Location(&a.spec))
	}
	a.target = enginebackup.Target{Store: opened, Prefix: a.spec.Prefix}
	_, err = opened.List(ctx, backup.Dir(a.spec.Prefix, a.id()))
	return err
}

func objectFailure(err error, what string) error {
	return node.Transient("ObjectUnreadable", err,
		"Check that /etc/kubernetes/admin.conf works on this host: `kubectl --kubeconfig /etc/kubernetes/admin.conf get ns`",
		"cannot read %s", what)
}
