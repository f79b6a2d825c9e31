package host

import (
	"path/filepath"
	"runtime"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestIdentify(t *testing.T) {
	dir := t.TempDir()
	machine, boot, release := filepath.Join(dir, "machine-id"), filepath.Join(dir, "boot_id"), filepath.Join(dir, "os-release")
	put(t, machine, "0123456789abcdef0123456789abcdef\n", 0o444)
	put(t, boot, "01234567-89ab-cdef-0123-456789abcdef\n", 0o444)
	put(t, release, "NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n", 0o444)
	id, err := identify(machine, boot, []string{filepath.Join(dir, "none"), release})
	must(t, err)
	if id.MachineID != "0123456789abcdef0123456789abcdef" || id.BootID != "01234567-89ab-cdef-0123-456789abcdef" ||
		id.OS != "Debian GNU/Linux 12 (bookworm)" || id.Arch != runtime.GOARCH || id.Kernel == "" || id.Hostname == "" {
		t.Errorf("%+v", id)
	}
	for _, bad := range []string{"", "uninitialized\n", "0123456789abcdef\n", "0123456789ABCDEF0123456789abcdef\n"} {
		put(t, machine, bad, 0o644)
		_, err := identify(machine, boot, nil)
		wantFailure(t, err, refitv1alpha1.FailureHostBroken, "NoMachineID")
	}
}
