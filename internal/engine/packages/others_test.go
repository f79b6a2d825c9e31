package packages

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// bootTools packs a package as initramfs-tools is: its trigger rebuilds what the host boots from.
func (h *host) bootTools() string {
	h.Helper()
	return h.pack("initramfs-tools", "1",
		part{"triggers", "interest-noawait update-initramfs\n"},
		part{"postinst", "#!/bin/sh\necho \"$@\" >> $DPKG_ROOT/boot\n"})
}

func (h *host) activate(trigger string) {
	h.Helper()
	cmd := exec.CommandContext(h.Context(), "dpkg-trigger", "--admindir="+h.admin, "--by-package=none", "--no-await", trigger)
	if out, err := cmd.CombinedOutput(); err != nil {
		h.Fatalf("%v: %s", err, out)
	}
}

func (h *host) status(name string) string {
	h.Helper()
	found, err := h.states(h.Context(), name)
	h.must(err)
	return found[name].status
}

// setStatus changes a package's entry in the dpkg database as an interrupted package manager leaves
// it.
func (h *host) setStatus(name, from, to string) {
	h.Helper()
	before, entry, found := strings.Cut(h.database(), "Package: "+name+"\n")
	if !found {
		h.Fatalf("dpkg's database has no %s", name)
	}
	h.write("/var/lib/dpkg/status", before+"Package: "+name+"\n"+strings.Replace(entry, from, to, 1))
}

func TestBootTriggerOfAnotherPackageStaysPending(t *testing.T) {
	for _, recorded := range []bool{false, true} {
		h := newSerialHost(t)
		h.install(h.bootTools(), h.pack("kubelet", "1"))
		booted := h.read("/boot")
		h.activate("update-initramfs")
		if recorded { // in dpkg's database, not only in triggers/Unincorp
			h.must(h.dpkg(t.Context(), "", "--no-triggers", "--install", h.pack("other", "1")))
		}
		h.must(h.dpkg(t.Context(), "", "--no-triggers", "--unpack", h.pack("kubelet", "2")))
		h.must(h.Configure(t.Context(), []string{"kubelet"}))
		h.install(h.pack("kubelet", "3"))
		if got := h.read("/boot"); got != booted {
			t.Errorf("recorded %v: the trigger of initramfs-tools was processed: %q", recorded, got)
		}
		if got := h.status("initramfs-tools"); got != "triggers-pending" {
			t.Errorf("recorded %v: initramfs-tools is %s", recorded, got)
		}
		if got := h.status("kubelet"); got != "installed" {
			t.Errorf("recorded %v: kubelet is %s", recorded, got)
		}
	}
}

func TestBootTriggerThatOurPackageActivatesStaysPending(t *testing.T) {
	h := newHost(t)
	h.install(h.bootTools())
	booted := h.read("/boot")
	h.install(h.pack("kubelet", "1", part{"triggers", "activate update-initramfs\n"}))
	if got := h.read("/boot"); got != booted {
		t.Errorf("the trigger of initramfs-tools was processed: %q", got)
	}
	if got := h.status("kubelet"); got != "installed" {
		t.Errorf("kubelet is %s", got)
	}
}

func TestHarmlessTriggersThatOurPackagesActivateAreProcessed(t *testing.T) {
	h := newHost(t)
	h.install(h.pack("man-db", "1",
		part{"triggers", "interest-noawait /usr/share/man\n"}, part{"postinst", "#!/bin/sh\necho \"$@\" >> $DPKG_ROOT/pages\n"}))
	h.install(h.pack("kubelet", "1", part{"/usr/share/man/man8/kubelet.8", "a page"}))
	if got := h.read("/pages"); !strings.Contains(got, "triggered /usr/share/man") {
		t.Errorf("man-db ran %q", got)
	}
	h.at(map[string]string{"kubelet": "1", "man-db": "1"})
}

func TestTriggersOfOurOwnPackagesAreProcessed(t *testing.T) {
	h := newHost(t)
	h.install(
		h.pack("containerd", "1", part{"triggers", "interest-noawait update-containerd\n"}, part{"postinst", "#!/bin/sh\necho \"$@\" >> $DPKG_ROOT/ran\n"}),
		h.pack("runc", "1", part{"triggers", "activate update-containerd\n"}))
	if got := h.read("/ran"); !strings.Contains(got, "triggered update-containerd") {
		t.Errorf("containerd ran %q", got)
	}
	h.at(map[string]string{"containerd": "1", "runc": "1"})
}

func TestAnotherPackageIsNotConfigured(t *testing.T) {
	h := newHost(t)
	script := part{"postinst", "#!/bin/sh\ntouch $DPKG_ROOT/configured\n"}
	h.must(h.dpkg(t.Context(), "", "--unpack", h.pack("linux-image", "1", script)))
	h.must(h.dpkg(t.Context(), "", "--unpack", h.pack("kubelet", "1")))
	h.must(h.Configure(t.Context(), []string{"kubelet"}))
	h.install(h.pack("kubelet", "2"))
	if _, err := os.Stat(filepath.Join(h.root, "configured")); err == nil {
		t.Error("linux-image was configured")
	}
	if got := h.status("linux-image"); got != "unpacked" {
		t.Errorf("linux-image is %s", got)
	}
}

func TestUnfinishedPackagesOfOthersAreRefusedBeforeTheFirstChange(t *testing.T) {
	for situation, c := range map[string]struct{ from, to, want string }{
		"unpacked":         {"install ok installed", "install ok unpacked", "dpkg --configure -a"},
		"half-configured":  {"install ok installed", "install ok half-configured", "dpkg --configure -a"},
		"half-installed":   {"install ok installed", "install reinstreq half-installed", "apt-get install --reinstall initramfs-tools"},
		"triggers-pending": {"install ok installed", "install ok triggers-pending\nTriggers-Pending: update-initramfs", "dpkg --configure -a"},
		"triggers-awaited": {"install ok installed", "install ok triggers-awaited\nTriggers-Awaited: elsewhere", "dpkg --configure -a"},
	} {
		h := newSerialHost(t)
		h.install(h.bootTools(), h.pack("elsewhere", "1"), h.pack("kubelet", "1"))
		h.setStatus("initramfs-tools", c.from, c.to)
		before := h.database()
		err := h.Check(t.Context(), []string{h.pack("kubelet", "2")}, Options{})
		if got := reason(t, err); got != "OtherPackagesUnfinished" {
			t.Errorf("%s: reason %s", situation, got)
			continue
		}
		f := node.FailureOf(err)
		if f.Class != refitv1alpha1.FailureManualIntervention || !strings.Contains(f.Remedy, c.want) || !strings.Contains(f.Message, "initramfs-tools") {
			t.Errorf("%s: %+v", situation, f)
		}
		if h.database() != before {
			t.Errorf("%s: dpkg's database has changed", situation)
		}
	}
}

func TestUnfinishedPackagesOfOthersDoNotStopARollback(t *testing.T) {
	h := newHost(t)
	h.install(h.bootTools(), h.pack("kubelet", "2"))
	h.setStatus("initramfs-tools", "install ok installed", "install ok half-configured")
	files, options := []string{h.pack("kubelet", "1")}, Options{Downgrade: true}
	h.must(h.Check(t.Context(), files, options))
	h.must(h.Install(t.Context(), files, options))
	if got := h.status("kubelet") + " " + h.status("initramfs-tools"); got != "installed half-configured" {
		t.Errorf("kubelet and initramfs-tools are %s", got)
	}
}
