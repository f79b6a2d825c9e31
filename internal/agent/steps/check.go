package steps

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// checks must pass before the first change to the host.
var checks = []struct {
	name string
	run  func(context.Context, *Host) error
}{
	{"release", func(_ context.Context, h *Host) error { return h.CheckRelease() }},
	{"tools", func(ctx context.Context, h *Host) error { return h.tools(ctx) }},
	{"phases", checkPhases},
	{"manifests", checkManifests},
	{"foreign changes", checkForeignChanges},
	{"disk space", checkDiskSpace},
	{"certificates", checkCertificates},
	{"images", checkImages},
	{"kubelet", checkKubelet},
	{"admission", checkAdmission},
}

func checkHost(ctx context.Context, h *Host) error {
	for _, check := range checks {
		if err := check.run(ctx, h); err != nil {
			h.Log.Warn("host check failed", "check", check.name, "error", err)
			return err
		}
	}
	return nil
}

// checkPhases compares the phases of the target's kubeadm with the steps of this agent. An unknown
// phase may be essential, so it fails the check.
func checkPhases(ctx context.Context, h *Host) error {
	facts, err := h.facts()
	if err != nil {
		return err
	}
	command := kubeadm.CommandOf(h.Upgrade.Role)
	if _, err = kubeadm.Plan(facts, command, h.Upgrade.Role); err != nil {
		return err
	}
	return h.kubeadm().CheckPhases(ctx, command)
}

// checkForeignChanges finds binaries that were replaced since Refit installed them.
func checkForeignChanges(_ context.Context, h *Host) error {
	for path, digest := range h.comparedFiles() {
		now, err := host.Digest(path)
		if errors.Is(err, fs.ErrNotExist) || (err == nil && now == digest) {
			continue
		}
		if err != nil {
			return err
		}
		return node.ManualIntervention("ChangedByOthers", nil,
			"Find out what changed it; accept the host as it is with `refit-agent forget`, then run `refit retry`",
			"%s was changed since Refit installed it", path)
	}
	return nil
}

func checkCertificates(_ context.Context, h *Host) error {
	if !h.controlPlane() {
		return nil
	}
	certificates, err := kubeadm.ReadCertificates(certificatesDir(), kubernetesDir)
	if err != nil {
		return err
	}
	for _, c := range certificates {
		if time.Now().After(c.NotAfter.Time) {
			return node.ManualIntervention("CertificateExpired", nil,
				"Run `kubeadm certs renew "+c.Name+"` (or all) on this host, restart its static pods, then run `refit retry`",
				"the certificate %s expired on %s", c.Name, c.NotAfter.Format(time.DateOnly))
		}
	}
	return nil
}

// checkImages runs again just before each swap: a runtime that cannot pin images may have removed
// one.
func checkImages(ctx context.Context, h *Host) error {
	missing, err := h.missingImages(ctx)
	if err != nil || len(missing) == 0 {
		return err
	}
	var names []string
	for _, image := range missing {
		names = append(names, image.Name)
	}
	h.Log.Info("importing images again that the container runtime has removed", "images", strings.Join(names, " "))
	return h.importAll(ctx, missing)
}

// checkAdmission checks that admission control accepts the objects of the upgrade. It ignores an
// unreachable API: kubeadm's preflight checks wait for it.
func checkAdmission(ctx context.Context, h *Host) error {
	if !h.controlPlane() {
		return nil
	}
	client, err := h.api()
	if err != nil {
		return err
	}
	return kubeadm.CheckAdmission(ctx, client)
}

func checkKubelet(ctx context.Context, h *Host) error {
	facts, err := h.facts()
	if err != nil {
		return err
	}
	args, err := h.kubeletArgs(ctx)
	if err != nil {
		return err
	}
	config, err := os.ReadFile(cmp.Or(kubeadm.KubeletConfigFile(args), kubeletConfig))
	if err != nil {
		return err
	}
	for _, finding := range kubeadm.CheckKubelet(ctx, h.path("bin", "kubelet"), args, config, facts) {
		if finding.Fatal {
			return finding.Failure
		}
		h.Log.Warn("the new kubelet ignores part of its configuration", "finding", finding.Text())
	}
	return nil
}

// kubeletArgs returns the flags that the new kubelet will start with, without those that the swap
// strips.
func (h *Host) kubeletArgs(ctx context.Context) ([]string, error) {
	facts, err := h.facts()
	if err != nil {
		return nil, err
	}
	unit, err := h.Systemd.Unit(ctx, kubeletUnit)
	if err == nil && unit.Stale {
		// The swap reloads systemd, so the check must see the changed unit files as well.
		if err = h.Systemd.Reload(ctx); err == nil {
			unit, err = h.Systemd.Unit(ctx, kubeletUnit)
		}
	}
	if err != nil {
		return nil, err
	}
	in := kubeadm.KubeletUnit{ExecStart: unit.ExecStart, Environment: unit.Environment}
	for _, path := range unit.EnvironmentFiles {
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if path == kubeletFlags {
			text, _ = kubeadm.StripRemovedFlags(text, facts)
		}
		in.EnvironmentFiles = append(in.EnvironmentFiles, text)
	}
	return kubeadm.KubeletArgs(in)
}
