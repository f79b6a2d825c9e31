package host

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Identity identifies a machine and its current boot.
type Identity struct {
	MachineID string // /etc/machine-id
	BootID    string // differs after each boot
	Hostname  string
	OS        string // name and version, human-readable
	Arch      string // as in GOARCH
	Kernel    string // as in uname -r
}

// Identify returns the identity of this host.
func Identify() (Identity, error) {
	return identify("/etc/machine-id", "/proc/sys/kernel/random/boot_id", []string{"/etc/os-release", "/usr/lib/os-release"})
}

var (
	machineID = regexp.MustCompile(`^[0-9a-f]{32}$`)
	bootID    = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
)

func identify(machineFile, bootFile string, releaseFiles []string) (Identity, error) {
	machine, err := os.ReadFile(machineFile)
	if err != nil {
		return Identity{}, fmt.Errorf("cannot read the machine ID: %w", err)
	}
	id := Identity{MachineID: strings.TrimSpace(string(machine)), Arch: runtime.GOARCH}
	// systemd writes "uninitialized" until the first boot completes.
	if !machineID.MatchString(id.MachineID) {
		return Identity{}, node.HostBroken("NoMachineID", nil, "Create one: run `systemd-machine-id-setup` on the host", "%s has no machine ID", machineFile)
	}
	boot, err := os.ReadFile(bootFile)
	if err != nil {
		return Identity{}, fmt.Errorf("cannot read the boot ID: %w", err)
	}
	id.BootID = strings.TrimSpace(string(boot))
	if !bootID.MatchString(id.BootID) {
		return Identity{}, fmt.Errorf("%s has no boot ID", bootFile)
	}
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return Identity{}, fmt.Errorf("cannot read the kernel version: %w", err)
	}
	id.Hostname, id.Kernel = unix.ByteSliceToString(name.Nodename[:]), unix.ByteSliceToString(name.Release[:])
	id.OS = prettyName(releaseFiles)
	return id, nil
}

// prettyName is the operating system's name.
func prettyName(files []string) string {
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if value, ok := strings.CutPrefix(strings.TrimSpace(line), "PRETTY_NAME="); ok {
				return strings.Trim(value, `"'`)
			}
		}
	}
	return runtime.GOOS
}
