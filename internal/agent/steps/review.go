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

// Review is what a rollback of a finished operation would do, and what has changed since. It is
// made before anything is touched: an operation that ended well is rolled back as a whole or not at
// all.
type Review struct {
	// Restored and Kept name files, packages and objects; those that are kept have the reason.
	Restored []string
	Kept     []string
	Warnings []string
	// Refusal is why the rollback cannot be done safely; nil: it can.
	Refusal *node.Failure

	blocking []string
}

// Review reads the host and, if the API is reachable, the cluster.
func (h *Host) Review(ctx context.Context) Review {
	var r Review
	if err := h.review(ctx, &r); err != nil {
		r.Refusal = node.FailureOf(err)
		return r
	}
	if len(r.blocking) > 0 {
		r.Refusal = node.ManualIntervention("ChangedSince", nil,
			"leave the host as it is and fix the cause of the rollback there; or, for each file, write back what the operation wrote or what was there before "+
				"(saved in "+h.path("saved")+", manifests and binaries as .NAME.refit-old beside them), then try again",
			"the host was changed since the operation, and its former version cannot run without what was there: %s", strings.Join(r.blocking, "; "))
	}
	return r
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
	if err := r.addFiles(saved, kubeletFiles); err != nil {
		return err
	}
	r.addForwardOnly(h.Work)
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
type swap struct{ path, was, will string }

// swapsToUndo are those that a rollback undoes: not etcd's and containerd's, which are
// forward-only.
func (h *Host) swapsToUndo(inv inventory) ([]swap, error) {
	var out []swap
	for _, f := range inv.filesOf(partsToUndo()...) {
		out = append(out, swap{f.Path, f.Was, f.Will})
	}
	if !h.controlPlane() {
		return out, nil
	}
	for _, component := range append([]string{kubeadm.APIServer}, controllers...) {
		was, will, err := h.manifestDigests(component)
		if err != nil {
			return nil, err
		}
		out = append(out, swap{manifest(component), was, will})
	}
	return out, nil
}

func partsToUndo() []refitv1alpha1.Part {
	return slices.Concat(kubeletParts, []refitv1alpha1.Part{refitv1alpha1.PartRunc, refitv1alpha1.PartCNI})
}

func (r *Review) addSwaps(swaps []swap) error {
	for _, s := range swaps {
		err := host.CheckUnswap(s.path, s.was, s.will)
		switch {
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

// addFiles reviews files without which the former version may not start.
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
	case state == host.New && err == nil && expires(text, now):
		r.Kept = append(r.Kept, path+": "+expired)
	case state == host.New:
		r.Restored = append(r.Restored, path)
	}
	return nil
}

// addForwardOnly names what stays whatever the rollback does.
func (r *Review) addForwardOnly(w node.Upgrade) {
	for _, step := range node.Steps(w) {
		if step.Undo == node.UndoIfUnhealthy {
			r.Kept = append(r.Kept, map[string]string{
				node.StepCertificates: "renewed certificates: they are of the same CA and work with the former version",
				node.StepEtcd:         "etcd: its data is forward-only",
				node.StepContainerd:   "containerd: its data is forward-only",
			}[step.Name])
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
			r.blocking = append(r.blocking, fmt.Sprintf("package %s: it is at %q, the operation installed %s", p.Name, now, p.Will))
			continue
		}
		if _, err := packages.Prepared(h.path("back"), p.Name); err != nil {
			return err
		}
		r.Restored = append(r.Restored, "package "+p.Name)
	}
	return nil
}

// reviewObjects reads the cluster. If the API is unreachable, the rollback decides when it comes to
// the objects.
func (h *Host) reviewObjects(ctx context.Context, r *Review) {
	client, err := h.api()
	if err != nil {
		r.warn("the cluster's objects cannot be reviewed: %v", err)
		return
	}
	relying, err := kubeadm.Relying(ctx, client, h.Work.NodeName, h.Work.To)
	if err != nil {
		r.warn("the cluster's objects cannot be reviewed: %v", err)
		return
	}
	if len(relying) > 0 {
		r.warn("the API server of this node returns to %s while these nodes are at %s or beyond it, which the version skew policy allows "+
			"only for other API servers: %s", h.Work.From, h.Work.To, kubeadm.Some(relying))
	}
	for _, phase := range []string{kubeadm.PhaseUploadConfig, kubeadm.PhaseAddon} {
		restored, kept, err := kubeadm.ReviewObjects(ctx, client, h.path("objects"), phase, relying)
		if err != nil {
			r.warn("the cluster's objects cannot be reviewed: %v", err)
			return
		}
		r.Restored, r.Kept = append(r.Restored, restored...), append(r.Kept, kept...)
	}
}

func (r *Review) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}
