package steps

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/refit-dev/refit/internal/engine/etcd"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

func swapEtcd(ctx context.Context, h *Host) error {
	member, err := h.staticPod(kubeadm.Etcd)
	if err != nil {
		return err
	}
	server, err := h.staticPod(kubeadm.APIServer)
	if err != nil {
		return err
	}
	return etcdSwap{
		pods: h.staticPods(), etcd: member, apiServer: server, stopAPIServer: h.Upgrade.StopAPIServer, dial: h.dialMember,
	}.do(ctx)
}

// localMember is the etcd member on this host and the state that it must reach after the swap.
type localMember struct {
	*etcd.Client
	host  *Host
	proof etcd.Proof
	lock  *etcd.Lock
}

func (h *Host) dialMember(ctx context.Context) (etcdMember, error) {
	client, proof, err := h.etcd(ctx)
	if err != nil {
		return nil, err
	}
	return &localMember{Client: client, host: h, proof: proof}, nil
}

func (m *localMember) secureQuorum(ctx context.Context) (func() error, error) {
	lock, err := m.host.secureQuorum(ctx, m.Client, m.OthersHealthy)
	if err != nil {
		return nil, err
	}
	m.lock = lock
	return lock.Close, nil
}

func (m *localMember) mayStop(ctx context.Context) error {
	return mayStop(ctx, m.lock, m.OthersHealthy, terminationTimeout+m.host.Settings.Timeouts.Etcd.Duration())
}

func (m *localMember) prove(ctx context.Context) error {
	return m.host.proveEtcd(ctx, m.Client, m.proof)
}

// secureQuorum waits until this member may stop: the agent holds the lock, every other member is
// healthy, and another member is the leader.
func (h *Host) secureQuorum(ctx context.Context, client *etcd.Client, others func(context.Context) error) (*etcd.Lock, error) {
	lock, err := h.lockEtcd(ctx, client)
	if err != nil {
		return nil, err
	}
	err = h.othersHealthy(ctx, others)
	select {
	case <-lock.Lost():
		err = node.Transient("EtcdLocked", err, "Check that etcd has a quorum, then run `refit retry`",
			"the etcd lock expired while the agent checked the other members")
	default:
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	if err := client.MoveLeader(ctx, 0); err != nil {
		// Without the transfer, stopping this member costs an election.
		h.Log.Warn("cannot transfer etcd leadership", "error", err)
	}
	return lock, nil
}

// etcdProven reports whether this host's member is healthy at the target version. A running member
// does not prove the swap, so it checks the manifest as well.
func etcdProven(ctx context.Context, h *Host) (bool, error) {
	was, will, err := h.manifestDigests(kubeadm.Etcd)
	if err != nil {
		return false, nil // nothing is rendered yet, so nothing was swapped
	}
	if state, err := host.SwapStateOf(manifest(kubeadm.Etcd), was, will); err != nil || state != host.New {
		return false, err
	}
	client, proof, err := h.etcd(ctx)
	if err != nil {
		return false, nil // an unreachable member is not proven
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return client.Prove(ctx, proof) == nil, nil
}

func undoEtcd(ctx context.Context, h *Host) error {
	if !exists(h.rendered(kubeadm.Etcd)) {
		return nil
	}
	// swap-etcd stopped the API server. It is restored even if etcd cannot be.
	server := h.undoManifest(kubeadm.APIServer)
	if errors.Is(server, node.ErrKept) {
		server = nil
	}
	err := h.undoEtcdMember(ctx)
	switch {
	case server == nil:
		return err
	case errors.Is(err, node.ErrKept): // ErrKept would hide the API server's failure
		return server
	}
	return errors.Join(server, err)
}

func (h *Host) undoEtcdMember(ctx context.Context) error {
	was, _, err := h.manifestDigests(kubeadm.Etcd)
	if err != nil {
		return err
	}
	if now, err := host.Digest(manifest(kubeadm.Etcd)); err == nil && now == was {
		return nil
	}
	if err := h.mayRestartEtcd(ctx); err != nil {
		return err
	}
	saved, err := h.saved()
	if err != nil {
		return err
	}
	old, err := saved.Read(manifest(kubeadm.Etcd))
	if err != nil {
		return err
	}
	if !h.canDowngradeEtcd(ctx, old) {
		if err := h.swapPods(ctx, kubeadm.Etcd); err != nil { // the manifest may be missing
			return err
		}
		return node.ErrKept
	}
	return h.undoManifest(kubeadm.Etcd)
}

// etcdVersionFile stores the cluster version that the new etcd reported. It exists once the new
// etcd has answered.
const etcdVersionFile = "etcd-version.json"

// canDowngradeEtcd reports whether the old etcd can start on the data. An etcd older than the
// cluster version refuses to start, and etcd raises the cluster version within seconds after the
// last member is upgraded.
func (h *Host) canDowngradeEtcd(ctx context.Context, old []byte) bool {
	was, err := kubeadm.Parse(old)
	if err != nil {
		return false
	}
	client, proof, err := h.etcd(ctx)
	if err != nil {
		return false
	}
	defer client.Close()
	before, errBefore := skew.Parse(was.Version())
	after, errAfter := skew.Parse(proof.Version)
	if errBefore == nil && errAfter == nil && before.SameMinor(after) {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if local, err := client.Local(ctx); err == nil {
		return etcd.CanDowngrade(local, was.Version())
	}
	// The member is unreachable. If it never answered at its new version, it raised nothing.
	return !exists(h.path(etcdVersionFile))
}

// etcd returns a client of all members and the state that the local member must reach.
func (h *Host) etcd(ctx context.Context) (*etcd.Client, etcd.Proof, error) {
	saved, err := h.saved() // the live manifest may be missing during a swap
	if err != nil {
		return nil, etcd.Proof{}, err
	}
	text, err := saved.Read(manifest(kubeadm.Etcd))
	if err != nil {
		return nil, etcd.Proof{}, err
	}
	config, err := etcd.ConfigFromManifest(text)
	if err != nil {
		return nil, etcd.Proof{}, err
	}
	rendered, err := os.ReadFile(h.rendered(kubeadm.Etcd))
	if err != nil {
		return nil, etcd.Proof{}, err
	}
	target, err := kubeadm.Parse(rendered)
	if err != nil {
		return nil, etcd.Proof{}, err
	}
	client, err := etcd.Dial(config)
	if err != nil {
		return nil, etcd.Proof{}, err
	}
	proof := etcd.Proof{Version: target.Version()}
	// The member count from before the swap is persisted, so that a member lost during the swap is
	// noticed.
	if now, err := host.Digest(manifest(kubeadm.Etcd)); h.readJSON("etcd-members.json", &proof.Members) != nil || (err == nil && now == digestOf(text)) {
		members, err := client.Members(ctx)
		if err != nil {
			unreachable := node.Transient("EtcdUnreachable", err, "Check that etcd has a quorum, then run `refit retry`", "cannot reach etcd")
			return nil, proof, errors.Join(unreachable, client.Close())
		}
		proof.Members = len(members)
		if err := h.writeJSON("etcd-members.json", proof.Members); err != nil {
			return nil, proof, errors.Join(err, client.Close())
		}
	}
	return client, proof, nil
}

// lockEtcd waits for the agents of other hosts and reports the wait, which only the lock ends.
func (h *Host) lockEtcd(ctx context.Context, client *etcd.Client) (*etcd.Lock, error) {
	for {
		lock, err := client.Lock(ctx, h.Upgrade.NodeName)
		var held *etcd.HeldError
		switch {
		case err == nil:
			h.ReportWait("")
			return lock, nil
		case !errors.As(err, &held):
			return nil, err
		}
		h.ReportWait("waiting for node " + held.By + " to finish its etcd upgrade")
		if err := held.Wait(ctx); err != nil {
			return nil, node.Transient("EtcdLocked", err,
				"Check the agent on node "+held.By+" (`refit-agent status`), then run `refit retry`", "node %s holds the etcd lock", held.By)
		}
	}
}

func (h *Host) othersHealthy(ctx context.Context, others func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, othersTimeout)
	defer cancel()
	var last error
	_, err := poll(ctx, 2*time.Second, func(ctx context.Context) (string, error) {
		if last = others(ctx); last == nil {
			h.ReportWait("")
			return "", nil
		}
		h.ReportWait(fmt.Sprintf("waiting for the other etcd members: %v", last))
		return last.Error(), nil
	})
	if err != nil && last != nil {
		return last
	}
	return err
}

func (h *Host) proveEtcd(ctx context.Context, client *etcd.Client, proof etcd.Proof) error {
	h.awaitKubelet(ctx)
	ctx, cancel := context.WithTimeout(ctx, h.Settings.Timeouts.Etcd.Duration())
	defer cancel()
	go h.noteVersion(ctx, client, proof.Version)
	stop := h.watchCrashes(ctx, kubeadm.Etcd, cancel)
	err := client.Prove(ctx, proof)
	if crash := stop(); err != nil && crash != nil {
		return crash
	}
	return err
}

// noteVersion records that the new etcd has answered: from then on the cluster version may be
// raised.
func (h *Host) noteVersion(ctx context.Context, client *etcd.Client, version string) {
	_, _ = poll(ctx, 500*time.Millisecond, func(ctx context.Context) (string, error) {
		local, err := client.Local(ctx)
		if err != nil || local.Version != version {
			return "it has not answered", nil //nolint:nilerr // an unreachable member is polled again
		}
		if err := h.writeJSON(etcdVersionFile, local.ClusterVersion); err != nil {
			h.Log.Warn("cannot record the version of etcd", "error", err)
		}
		return "", nil
	})
}

func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}
