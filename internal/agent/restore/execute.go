package restore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
	"github.com/refit-dev/refit/internal/upgrade/restore"
)

// ErrPending is returned by Execute if this host is done, and the API server starts once the other
// members serve.
var ErrPending = errors.New("the other members of etcd do not serve yet")

// Execute runs the steps that the journal does not have as done. After an error, run it again.
func (r *Restore) Execute(ctx context.Context) error {
	for {
		step, more := restore.Next(r.Plan.Situation, r.journal.Records())
		if !more {
			return r.finish()
		}
		if err := r.step(ctx, step); err != nil {
			return err
		}
	}
}

func (r *Restore) step(ctx context.Context, step restore.Step) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	r.Progress(step.Name + ": " + step.Does)
	if err := r.write(node.Record{Kind: node.Started, Step: step.Name}); err != nil {
		return err
	}
	r.point(step.Name + "/started")
	if err := r.action(step.Name)(ctx); err != nil {
		if !errors.Is(err, ErrPending) && ctx.Err() == nil { // an interruption is no failure
			_ = r.write(node.Record{Kind: node.Failed, Step: step.Name, Failure: failureOf(err).Persistent()})
		}
		return err
	}
	r.point(step.Name + "/effective")
	return r.write(node.Record{Kind: node.Done, Step: step.Name})
}

// failureOf returns the failure of a step. The remedies of upgrades do not apply.
func failureOf(err error) *node.Failure {
	if f, ok := errors.AsType[*node.Failure](err); ok {
		return f
	}
	return node.ManualIntervention("StepFailed", err, "Fix the cause, then run the same command again", "the step failed")
}

// action returns what a step does. Each can be repeated at any time.
func (r *Restore) action(step string) func(context.Context) error {
	actions := map[string]func(context.Context) error{
		restore.StopAPIServer:  r.stopAPIServer,
		restore.StopEtcd:       r.stopEtcd,
		restore.RestoreData:    r.restoreData,
		restore.MoveData:       r.moveData,
		restore.ReplaceMember:  r.replaceMember,
		restore.JoinEtcd:       r.joinEtcd,
		restore.StartEtcd:      r.startEtcd,
		restore.StartAPIServer: r.startAPIServer,
	}
	if do := actions[step]; do != nil {
		return do
	}
	return func(context.Context) error { return fmt.Errorf("this refit-agent does not know the step %s", step) }
}

// startEtcd waits until etcd runs and, if enough hosts are restored for a quorum, serves.
func (r *Restore) startEtcd(ctx context.Context) error {
	if err := r.unpark(kubeadm.Etcd); err != nil {
		return err
	}
	r.point("start-etcd/manifest")
	ctx, cancel := context.WithTimeout(ctx, r.Timeouts.Etcd)
	defer cancel()
	err := r.poll(ctx, func(ctx context.Context) error { return r.Machine.Running(ctx, kubeadm.Etcd) })
	if err == nil && r.Plan.Quorum() {
		err = r.poll(ctx, func(ctx context.Context) error { return r.missing(ctx, r.Plan.Member) })
	}
	if err != nil {
		return node.ManualIntervention("EtcdNotServing", err,
			"Read the log of etcd on this host (`crictl ps -a`, `crictl logs`), then run the same command again", "etcd does not serve the restored data")
	}
	return nil
}

// startAPIServer starts the API server once every member serves: then every host was restored, and
// so no API server with the lost data runs.
func (r *Restore) startAPIServer(ctx context.Context) error {
	if err := r.awaitMembers(ctx); err != nil {
		return err
	}
	if err := r.unpark(kubeadm.APIServer); err != nil {
		return err
	}
	r.point("start-api-server/manifest")
	ctx, cancel := context.WithTimeout(ctx, r.Timeouts.APIServer)
	defer cancel()
	err := r.poll(ctx, func(ctx context.Context) error { return r.Machine.APIServerReady(ctx) })
	if err != nil {
		return node.ManualIntervention("APIServerNotReady", err,
			"Read the log of kube-apiserver on this host (`crictl ps -a`, `crictl logs`), then run the same command again",
			"kube-apiserver is not ready on the restored data")
	}
	if err := r.verify(ctx); err != nil {
		return node.ManualIntervention("ClusterUnreachable", err,
			"Check the endpoint in /etc/kubernetes/admin.conf (load balancer, virtual IP), then run the same command again",
			"kube-apiserver of this host is ready, and the endpoint of the cluster does not serve the cluster of the backup")
	}
	return nil
}

// awaitMembers waits for all members if this host is the last one, and else checks once.
func (r *Restore) awaitMembers(ctx context.Context) error {
	var names []string
	for _, m := range r.Plan.Members {
		// A replaced member does not depend on further ones that are lost.
		if r.Plan.Situation != restore.Replace || m.Name == r.Plan.Member {
			names = append(names, m.Name)
		}
	}
	if len(r.Plan.Remaining()) > 0 {
		if r.missing(ctx, names...) != nil {
			return ErrPending
		}
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.Timeouts.Etcd)
	defer cancel()
	if err := r.poll(ctx, func(ctx context.Context) error { return r.missing(ctx, names...) }); err != nil {
		return node.ManualIntervention("EtcdNotServing", err, "Read the log of etcd on that host (`crictl logs`), then run the same command again",
			"not every member of etcd serves the restored data")
	}
	return nil
}

// self is the member of this host.
func (r *Restore) self() restore.Member {
	at := slices.IndexFunc(r.Plan.Members, func(m restore.Member) bool { return m.Name == r.Plan.Member })
	return r.Plan.Members[at] // a restore of an unknown member is refused
}

// missing returns an error that lists the members which do not serve.
func (r *Restore) missing(ctx context.Context, names ...string) error {
	manifest, err := r.manifest(kubeadm.Etcd)
	if err != nil {
		return err
	}
	serving := r.Machine.Serving(ctx, manifest, r.Plan.Member, r.Plan.Members)
	var missing []string
	for _, name := range names {
		if !slices.Contains(serving, name) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("%s does not serve", strings.Join(missing, ", "))
	}
	return nil
}

// verify requires that the API serves the cluster of the backup.
func (r *Restore) verify(ctx context.Context) error {
	return r.poll(ctx, func(ctx context.Context) error {
		uid, err := r.Machine.ClusterUID(ctx)
		if err == nil && uid != r.Plan.ClusterUID {
			err = fmt.Errorf("the API serves the cluster %s instead of %s", uid, r.Plan.ClusterUID)
		}
		return err
	})
}

// finish removes the decrypted snapshot and ends the restore. Its journal may be damaged later,
// which must not matter: the restore has ended once the file exists.
func (r *Restore) finish() error {
	for _, path := range []string{durable.Temp(r.Snapshot(r.Plan.Run)), r.Snapshot(r.Plan.Run), r.marked(r.member())} {
		if err := durable.Remove(path); err != nil {
			return err
		}
	}
	r.point("finish/removed")
	if err := durable.WriteFile(r.file(finishedFile), nil, 0o600); err != nil {
		return err
	}
	return r.write(node.Record{Kind: node.Finished})
}

// reportInterval is the interval between two reports of the same wait.
const reportInterval = time.Minute

// poll calls check until it returns nil, and returns its last error after the context has ended. It
// reports what it waits for.
func (r *Restore) poll(ctx context.Context, check func(context.Context) error) error {
	tick := time.NewTicker(r.Timeouts.Poll)
	defer tick.Stop()
	var last error
	var reported time.Time
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		if last == nil || err.Error() != last.Error() || time.Since(reported) > reportInterval {
			r.Progress("waiting" + atMost(ctx) + ": " + err.Error())
			reported = time.Now()
		}
		if ctx.Err() == nil || last == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return errors.Join(last, context.Cause(ctx))
		case <-tick.C:
		}
	}
}

// atMost is how long a wait takes at most.
func atMost(ctx context.Context) string {
	end, bounded := ctx.Deadline()
	if !bounded {
		return ""
	}
	return ", at most " + phrase.Duration(max(0, time.Until(end)))
}

func (r *Restore) point(name string) {
	if r.Point != nil {
		r.Point("restore-" + name)
	}
}
