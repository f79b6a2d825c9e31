package steps

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// checks are what must hold before anything is changed, each named by what it looks at.
var checks = []struct {
	name string
	look func(context.Context, *Host) error
}{
	{"tools", func(ctx context.Context, h *Host) error { return h.tools(ctx) }},
	{"phases", checkPhases},
	{"manifests", checkManifests},
	{"changes by others", checkOthers},
	{"room", checkRoom},
	{"certificates", checkCertificates},
	{"images", checkImages},
	{"kubelet", checkKubelet},
	{"admission", checkAdmission},
}

func checkHost(ctx context.Context, h *Host) error {
	for _, check := range checks {
		if err := check.look(ctx, h); err != nil {
			h.Log.Warn("a check of the host failed", "check", check.name, "error", err)
			return err
		}
	}
	return nil
}

// checkPhases holds the phases that the target's kubeadm has against the steps of this agent: one that nobody here knows may matter.
func checkPhases(ctx context.Context, h *Host) error {
	facts, err := h.facts()
	if err != nil {
		return err
	}
	command := kubeadm.CommandOf(h.Work.Role)
	if _, err = kubeadm.Plan(facts, command, h.Work.Role); err != nil {
		return err
	}
	return h.kubeadm().CheckPhases(ctx, command)
}

// checkManifests brings back a manifest that is gone, as after a kubeadm that was killed between its two renames: the kubelet stops what has none.
func checkManifests(_ context.Context, h *Host) error {
	if !h.controlPlane() {
		return nil
	}
	for _, component := range kubeadm.Components() {
		path := manifest(component)
		if exists(path) || (component == kubeadm.Etcd && !exists(h.knownGood(component))) {
			continue
		}
		text, err := os.ReadFile(h.knownGood(component))
		if err != nil {
			return node.ManualIntervention("ManifestMissing", err, "put "+path+" back (kubeadm keeps copies in "+kubernetesDir+"/tmp), then refit retry",
				"%s is not there, and this agent has no copy of it", path)
		}
		if err := h.Effect("restore-"+component, func() error { return durable.WriteFile(path, text, 0o600) }); err != nil {
			return err
		}
	}
	return nil
}

func manifest(component string) string { return filepath.Join(manifestsDir, component+".yaml") }

// knownGood is the agent's own copy of a manifest, from when all was well.
func (h *Host) knownGood(component string) string {
	return filepath.Join(h.Settings.StateDir, "manifests", component+".yaml")
}

// KeepManifests copies the static pod manifests of a host that is well.
func KeepManifests(stateDir string) error {
	for _, component := range kubeadm.Components() {
		text, err := os.ReadFile(manifest(component))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			_, err = kubeadm.Parse(text)
		}
		if err != nil {
			return err
		}
		if err := durable.MkdirAll(filepath.Join(stateDir, "manifests"), 0o700); err != nil {
			return err
		}
		if err := durable.WriteFile(filepath.Join(stateDir, "manifests", component+".yaml"), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// checkOthers finds programs that somebody replaced since Refit installed them.
func checkOthers(_ context.Context, h *Host) error {
	for path, digest := range h.Memory.Files {
		now, err := host.Digest(path)
		if errors.Is(err, fs.ErrNotExist) || (err == nil && now == digest) {
			continue
		}
		if err != nil {
			return err
		}
		return node.ManualIntervention("ChangedByOthers", nil,
			"find out who changed it; `refit-agent forget` accepts the host as it is now, then refit retry",
			"%s is not what Refit installed: somebody else changed it", path)
	}
	return nil
}

func checkRoom(_ context.Context, h *Host) error {
	files, err := h.files()
	if err != nil {
		return err
	}
	needed := uint64(h.Settings.ReservedDiskMiB) << 20
	for _, f := range files {
		needed += 2 * uint64(f.Size) // beside the old one, and as a tool
	}
	for _, dir := range []string{h.Settings.StateDir, "/usr", "/etc", "/var/lib"} {
		free, err := host.Free(dir)
		if err != nil {
			return err
		}
		if free.ReadOnly {
			return node.HostBroken("ReadOnly", nil, "find out why it is mounted read-only (dmesg), repair it, then refit retry", "%s cannot be written to", dir)
		}
		if free.Bytes < needed {
			return node.ManualIntervention("DiskFull", nil, "make room on the file system of "+dir+", then refit retry",
				"%s has %d MiB free and %d MiB are needed", dir, free.Bytes>>20, needed>>20)
		}
	}
	return nil
}

func checkCertificates(_ context.Context, h *Host) error {
	if !h.controlPlane() {
		return nil
	}
	certificates, err := kubeadm.ReadCertificates(pkiDir, kubernetesDir)
	if err != nil {
		return err
	}
	for _, c := range certificates {
		if time.Now().After(c.NotAfter.Time) {
			return node.ManualIntervention("CertificateExpired", nil,
				"kubeadm certs renew "+c.Name+" (or all) on this host, restart its static pods, then refit retry",
				"the certificate %s expired on %s", c.Name, c.NotAfter.Format(time.DateOnly))
		}
	}
	return nil
}

// checkImages looks once more just before the first swap: a runtime that cannot pin may have collected them.
func checkImages(ctx context.Context, h *Host) error {
	missing, err := h.missingImages(ctx)
	if err != nil || len(missing) == 0 {
		return err
	}
	h.Log.Info("images are gone since they were brought, and are brought again", "images", strings.Join(missing, " "))
	return importImages(ctx, h)
}

// checkAdmission asks whether the cluster takes what the upgrade will write. An API that is away is not its matter: kubeadm's own checks wait for it.
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
	config, err := os.ReadFile(kubeletConfig)
	if err != nil {
		return err
	}
	for _, finding := range kubeadm.CheckKubelet(ctx, h.path("bin", "kubelet"), args, config, facts) {
		if finding.Fatal {
			return finding.Failure
		}
		h.Log.Warn("the new kubelet ignores something", "finding", finding.Text())
	}
	return nil
}

// kubeletArgs are the flags that the new kubelet would be started with: those that kubeadm once wrote and that it refuses are stripped with the swap.
func (h *Host) kubeletArgs(ctx context.Context) ([]string, error) {
	facts, err := h.facts()
	if err != nil {
		return nil, err
	}
	unit, err := h.Systemd.Unit(ctx, kubeletUnit)
	if err == nil && unit.Stale {
		// The swap makes systemd read what somebody wrote there, so that is what has to be looked at.
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
