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
		pods: h.staticPods(), etcd: member, apiServer: server, stopAPIServer: h.Work.StopAPIServer, dial: h.dialMember,
	}.do(ctx)
}

// localMember is the etcd member on this host, with what it must prove after the swap.
type localMember struct {
	*etcd.Client
	host  *Host
	proof etcd.Proof
}

func (h *Host) dialMember(ctx context.Context) (etcdMember, error) {
	client, proof, err := h.etcd(ctx)
	if err != nil {
		return nil, err
	}
	return localMember{Client: client, host: h, proof: proof}, nil
}

func (m localMember) secureQuorum(ctx context.Context) (func() error, error) {
	lock, err := m.host.secureQuorum(ctx, m.Client)
	if err != nil {
		return nil, err
	}
	return lock.Close, nil
}

func (m localMember) prove(ctx context.Context) error {
	return m.host.proveEtcd(ctx, m.Client, m.proof)
}

// secureQuorum waits until this member may go: the lock is held, every other member is healthy, and another one leads.
func (h *Host) secureQuorum(ctx context.Context, client *etcd.Client) (*etcd.Lock, error) {
	lock, err := h.lockEtcd(ctx, client)
	if err != nil {
		return nil, err
	}
	err = h.othersHealthy(ctx, client)
	select {
	case <-lock.Lost():
		err = node.Transient("EtcdLocked", err, "see that etcd has a quorum, then refit retry", "the lock of etcd was lost while the other members were asked")
	default:
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	if err := client.MoveLeader(ctx, 0); err != nil {
		// Losing a leader by surprise costs an election, no more.
		h.Log.Warn("the lead of etcd could not be given to another member", "error", err)
	}
	return lock, nil
}

// etcdProven asks whether this host's member is at the target and well. A member that runs is no proof that it was swapped, so the manifest is looked at, too.
func etcdProven(ctx context.Context, h *Host) (bool, error) {
	was, will, err := h.manifestDigests(kubeadm.Etcd)
	if err != nil {
		return false, nil // nothing was rendered yet, so nothing was swapped
	}
	if state, err := host.SwapStateOf(manifest(kubeadm.Etcd), was, will); err != nil || state != host.New {
		return false, err
	}
	client, proof, err := h.etcd(ctx)
	if err != nil {
		return false, nil // it cannot be asked, so it is not proven
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return client.Prove(ctx, proof) == nil, nil
}

func unswapEtcd(ctx context.Context, h *Host) error {
	if !exists(h.rendered(kubeadm.Etcd)) {
		return nil
	}
	// The API server was stopped for it, and comes back whatever becomes of etcd.
	server := h.unswapManifest(kubeadm.APIServer)
	if errors.Is(server, node.ErrKept) {
		server = nil
	}
	err := h.undoEtcd(ctx)
	switch {
	case server == nil:
		return err
	case errors.Is(err, node.ErrKept): // which would hide the API server's failure
		return server
	}
	return errors.Join(server, err)
}

func (h *Host) undoEtcd(ctx context.Context) error {
	was, _, err := h.manifestDigests(kubeadm.Etcd)
	if err != nil {
		return err
	}
	if now, err := host.Digest(manifest(kubeadm.Etcd)); err == nil && now == was {
		return nil
	}
	saved, err := h.saved()
	if err != nil {
		return err
	}
	old, err := saved.Read(manifest(kubeadm.Etcd))
	if err != nil {
		return err
	}
	if !h.mayGoBack(ctx, old) {
		if err := h.swapPods(ctx, kubeadm.Etcd); err != nil { // it may have been taken away and not brought yet
			return err
		}
		return node.ErrKept
	}
	return h.unswapManifest(kubeadm.Etcd)
}

// seenFile holds what the new etcd said while it was being proven.
const seenFile = "etcd-seen.json"

// mayGoBack says whether the old etcd may run on the data again. One that is older than what the cluster agreed on would not start, and the cluster agrees on a
// new minor within seconds once every member has it.
func (h *Host) mayGoBack(ctx context.Context, old []byte) bool {
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
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if local, err := client.Local(ctx); err == nil {
		return etcd.CanDowngrade(local, was.Version())
	}
	// It cannot be asked. If it never answered at its new version, it never raised anything.
	return !exists(h.path(seenFile))
}

// etcd is a client of all members, and what is to be proven of the one on this host.
func (h *Host) etcd(ctx context.Context) (*etcd.Client, etcd.Proof, error) {
	saved, err := h.saved() // the one in use may be away just now
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
	// How many members there were before the swap is remembered: a member that was lost on the way must be noticed.
	if now, err := host.Digest(manifest(kubeadm.Etcd)); h.readJSON("etcd-members.json", &proof.Members) != nil || (err == nil && now == digestOf(text)) {
		members, err := client.Members(ctx)
		if err != nil {
			away := node.Transient("EtcdUnreachable", err, "see that etcd has a quorum, then refit retry", "etcd does not answer")
			return nil, proof, errors.Join(away, client.Close())
		}
		proof.Members = len(members)
		if err := h.writeJSON("etcd-members.json", proof.Members); err != nil {
			return nil, proof, errors.Join(err, client.Close())
		}
	}
	return client, proof, nil
}

// lockEtcd waits for the agents of other hosts, and says so.
func (h *Host) lockEtcd(ctx context.Context, client *etcd.Client) (*etcd.Lock, error) {
	for {
		lock, err := client.Lock(ctx, h.Work.NodeName)
		var held *etcd.HeldError
		if !errors.As(err, &held) {
			h.Say("")
			return lock, err
		}
		h.Say("waiting for " + held.By + ", which is upgrading its etcd")
		if err := held.Wait(ctx); err != nil {
			return nil, node.Transient("EtcdLocked", err, "see what the agent of "+held.By+" is doing, then refit retry", "%s holds the lock of etcd", held.By)
		}
	}
}

func (h *Host) othersHealthy(ctx context.Context, client *etcd.Client) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	var last error
	_, err := until(ctx, 2*time.Second, func(ctx context.Context) (string, error) {
		if last = client.OthersHealthy(ctx); last == nil {
			h.Say("")
			return "", nil
		}
		h.Say(fmt.Sprintf("waiting for the other members of etcd: %v", last))
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

// noteVersion writes down that the new etcd has answered: from then on the cluster may have agreed on its version.
func (h *Host) noteVersion(ctx context.Context, client *etcd.Client, version string) {
	_, _ = until(ctx, 500*time.Millisecond, func(ctx context.Context) (string, error) {
		local, err := client.Local(ctx)
		if err != nil || local.Version != version {
			return "it has not answered", nil //nolint:nilerr // that is the answer
		}
		if err := h.writeJSON(seenFile, local.ClusterVersion); err != nil {
			h.Log.Warn("what etcd said could not be written down", "error", err)
		}
		return "", nil
	})
}

func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}
