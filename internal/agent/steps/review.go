package steps

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/engine/packages"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Review describes what a rollback of a finished operation would do and what has changed since. It
// is made before the first change: a successful operation is rolled back as a whole or not at all.
type Review struct {
	// Restored and Kept list files, packages and objects. Each kept one includes the reason.
	Restored []string
	Kept     []string
	Warnings []string
	// Refusal is why a rollback is not safe; nil if it is.
	Refusal *node.Failure

	blocking []string
	// newer are the workers whose kubelet is newer than the previous API server.
	newer []string
}

// Review inspects the host and, if the API is reachable, the cluster.
func (h *Host) Review(ctx context.Context) Review {
	var r Review
	if err := h.review(ctx, &r); err != nil {
		r.Refusal = node.FailureOf(err)
		return r
	}
	r.Refusal = r.refusal(h.path("saved"))
	return r
}

// refusal returns why a rollback is not safe; nil if it is.
func (r *Review) refusal(saved string) *node.Failure {
	switch {
	case len(r.blocking) > 0:
		return node.ManualIntervention("ChangedSince", nil,
			"Keep the host as it is and fix the reason for the rollback; or restore each file to what the operation wrote or to its previous content "+
				"(saved in "+saved+", manifests and binaries as .NAME.refit-old beside them), then roll back again",
			"the host was changed since the operation, and the previous version needs the previous files: %s", strings.Join(r.blocking, "; "))
	case len(r.newer) > 0:
		return node.ManualIntervention("KubeletsNewer", nil,
			"Roll the workers back first: run `refit-agent undo --yes` on each of them; then roll this node back again",
			"kubelets must not be newer than any API server, and these workers would be: %s", kubeadm.Some(r.newer))
	}
	return nil
}

func (h *Host) review(ctx context.Context, r *Review) error {
	saved, err := h.saved()
	if err != nil {
		return err
	}
	inv, err := h.inventory()
	if err != nil {
		return err
	}
	swaps, err := h.swapsToUndo(inv)
	if err != nil {
		return err
	}
	if err := r.addSwaps(swaps); err != nil {
		return err
	}
	if err := h.reviewPackages(ctx, r, inv); err != nil {
		return err
	}
	if err := r.addFiles(saved, kubeletFiles()); err != nil {
		return err
	}
	r.addForwardOnly(h.Upgrade)
	if !h.controlPlane() {
		return nil
	}
	if err := r.addKubeconfig(saved, kubeletConf, time.Now()); err != nil {
		return err
	}
	h.reviewObjects(ctx, r)
	return nil
}

// swap is a file that was swapped in place.
type swap struct {
	path, was, will string
	shared          bool
}

// swapsToUndo returns the swaps that a rollback undoes. etcd and containerd are forward-only.
func (h *Host) swapsToUndo(inv inventory) ([]swap, error) {
	var out []swap
	for _, f := range inv.filesOf(partsToUndo()...) {
		out = append(out, swap{f.Path, f.Was, f.Will, shared(f.Part)})
	}
	if !h.controlPlane() {
		return out, nil
	}
	for _, component := range append([]string{kubeadm.APIServer}, controllers...) {
		was, will, err := h.manifestDigests(component)
		if err != nil {
			return nil, err
		}
		out = append(out, swap{manifest(component), was, will, false})
	}
	return out, nil
}

func partsToUndo() []refitv1alpha1.Part {
	return slices.Concat(kubeletParts, []refitv1alpha1.Part{refitv1alpha1.PartRunc, refitv1alpha1.PartCNI})
}

func (r *Review) addSwaps(swaps []swap) error {
	for _, s := range swaps {
		err := host.CheckUndoSwap(s.path, s.was, s.will)
		switch {
		case s.shared && errors.Is(err, host.ErrChangedSince):
			r.Kept = append(r.Kept, err.Error())
		case errors.Is(err, host.ErrChangedSince), errors.Is(err, host.ErrPreviousLost):
			r.blocking = append(r.blocking, err.Error())
		case err != nil:
			return err
		case s.was != s.will:
			r.Restored = append(r.Restored, s.path)
		}
	}
	return nil
}

// addFiles reviews files without which the previous version may not start.
func (r *Review) addFiles(saved *host.Saved, paths []string) error {
	for _, path := range paths {
		state, err := saved.State(path)
		switch {
		case err != nil:
			return err
		case state == host.New:
			r.Restored = append(r.Restored, path)
		case state == host.Other:
			r.blocking = append(r.blocking, path+": "+changedSince)
		}
	}
	return nil
}

// addKubeconfig reviews the kubelet's kubeconfig, which works with either version.
func (r *Review) addKubeconfig(saved *host.Saved, path string, now time.Time) error {
	state, err := saved.State(path)
	if err != nil {
		return err
	}
	text, err := saved.Read(path)
	switch {
	case state == host.Other:
		r.Kept = append(r.Kept, path+": "+changedSince)
	case state == host.New && err == nil && expiresSoon(text, now):
		r.Kept = append(r.Kept, path+": "+expired)
	case state == host.New:
		r.Restored = append(r.Restored, path)
	}
	return nil
}

// addForwardOnly adds the changes that no rollback undoes.
func (r *Review) addForwardOnly(w node.Upgrade) {
	for _, step := range node.Steps(w) {
		kept := map[string]string{
			node.StepCertificates: "renewed certificates: they have the same CA and work with the previous version",
			node.StepEtcd:         "etcd: its data is forward-only",
			node.StepContainerd:   "containerd: its data is forward-only",
		}[step.Name]
		if step.Undo == node.UndoIfUnhealthy && kept != "" { // restarted pods have no data to keep
			r.Kept = append(r.Kept, kept)
		}
	}
}

func (h *Host) reviewPackages(ctx context.Context, r *Review, inv inventory) error {
	for _, p := range inv.packagesOf(partsToUndo()...) {
		if p.Was == "" || p.Was == p.Will {
			continue
		}
		installed, err := h.driver(p.Part).Installed(ctx, p.Name)
		if err != nil {
			return err
		}
		if now := installed[p.Name]; now != p.Will && now != p.Was {
			r.blocking = append(r.blocking, fmt.Sprintf("package %s has version %q, the operation installed %s", p.Name, now, p.Will))
			continue
		}
		if _, err := packages.Prepared(h.path(rollbackPackages), p.Name); err != nil {
			return err
		}
		r.Restored = append(r.Restored, "package "+p.Name)
	}
	return nil
}

// reviewObjects inspects the cluster. If the API is unreachable, the rollback itself decides about
// the objects.
func (h *Host) reviewObjects(ctx context.Context, r *Review) {
	client, err := h.api()
	if err != nil {
		r.warn("cannot review the objects of the cluster: %v", err)
		return
	}
	h.reviewKubelets(ctx, client, r)
	relying, err := kubeadm.Relying(ctx, client, h.Upgrade.NodeName, h.Upgrade.To)
	if err != nil {
		r.warn("cannot review the objects of the cluster: %v", err)
		return
	}
	for _, phase := range []string{kubeadm.PhaseUploadConfig, kubeadm.PhaseAddon} {
		restored, kept, err := kubeadm.ReviewObjects(ctx, client, h.path("objects"), phase, relying)
		if err != nil {
			r.warn("cannot review the objects of the cluster: %v", err)
			return
		}
		r.Restored, r.Kept = append(r.Restored, restored...), append(r.Kept, kept...)
	}
}

func (r *Review) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}
