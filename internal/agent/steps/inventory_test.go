package steps

import (
	"path/filepath"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/host"
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
