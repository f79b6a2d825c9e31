package steps

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/packages"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

func TestServiceThatStartsAScriptIsRefused(t *testing.T) {
	dir := t.TempDir()
	script, binary := filepath.Join(dir, "start-kubelet"), filepath.Join(dir, "kubelet")
	put(t, script, "#!/bin/sh\n")
	put(t, binary, "\x7fELF")
	_, err := serviceBinary(host.Unit{Executable: script}, kubeletUnit, "kubelet")
	f := node.FailureOf(err)
	if f.Class != refitv1alpha1.FailureManualIntervention || f.Reason != "ServiceWrapped" || !strings.Contains(f.Error(), script) || !strings.Contains(f.Remedy, kubeletUnit) {
		t.Errorf("%+v", f)
	}
	if path, err := serviceBinary(host.Unit{Executable: binary}, kubeletUnit, "kubelet"); err != nil || path != binary {
		t.Errorf("%q, %v", path, err)
	}
}

// halfInstalled is a package manager whose last run was interrupted.
type halfInstalled struct{ packages.Driver }

func (halfInstalled) Installed(context.Context, ...string) (map[string]string, error) {
	return nil, nil
}

func (halfInstalled) Settled(context.Context, ...string) (map[string]string, error) {
	return nil, node.HostBroken(packages.HalfInstalled, nil, "reinstall it", "it is half-installed")
}

func TestHalfInstalledPackageIsNotAnAbsentOne(t *testing.T) {
	_, err := packageBefore(t.Context(), halfInstalled{}, refitv1alpha1.ReleaseFile{Part: refitv1alpha1.PartKubelet, Name: "kubelet"})
	if f := node.FailureOf(err); f == nil || f.Reason != packages.HalfInstalled {
		t.Errorf("error %v", err)
	}
}
