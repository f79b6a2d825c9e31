package packages

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestUnpackedPackageIsConfigured(t *testing.T) {
	h := newHost(t)
	h.must(h.dpkg(t.Context(), "", "--unpack", h.pack("kubelet", "1")))
	if got, _ := h.Installed(t.Context(), "kubelet"); len(got) > 0 {
		t.Errorf("an unpacked package counts as installed: %v", got)
	}
	if problems, _ := h.Verify(t.Context(), []string{"kubelet"}); len(problems) == 0 {
		t.Error("Verify reports no problem of an unpacked package")
	}
	h.must(h.Configure(t.Context(), []string{"kubelet"}))
	h.at(map[string]string{"kubelet": "1"})
}

func TestHalfInstalledPackageNeedsItsFile(t *testing.T) {
	h := newHost(t)
	file := h.pack("kubelet", "1")
	h.install(file)
	status := h.read("/var/lib/dpkg/status")
	h.write("/var/lib/dpkg/status", strings.Replace(status, "install ok installed", "install reinstreq half-installed", 1))
	h.refusedBeforeAnOperation()
	if got := reason(t, h.Configure(t.Context(), []string{"kubelet"})); got != "PackagesHalfInstalled" {
		t.Errorf("reason %s", got)
	}
	h.install(file)
	h.must(h.Configure(t.Context(), []string{"kubelet"}))
	h.at(map[string]string{"kubelet": "1"})
}

// dpkg is killed at random moments, then the upgrade continues or is rolled back.
func TestDpkgIsKilledAtAnyMoment(t *testing.T) {
	h := newHost(t)
	slow := part{"postinst", "#!/bin/sh\nsleep 0.02\n"}
	big := part{"/usr/share/kubelet/data", strings.Repeat("0123456789abcdef", 1<<18)}
	old, next := h.pack("kubelet", "1", slow, big), h.pack("kubelet", "2", slow, big)
	h.install(old)
	dir := filepath.Join(t.TempDir(), "rollback")
	h.must(h.Prepare(t.Context(), dir, []string{"kubelet"}))
	previous, err := Prepared(dir, "kubelet")
	h.must(err)
	kills, unfinished := 3, 0
	if n, err := strconv.Atoi(os.Getenv("REFIT_TEST_KILLS")); err == nil {
		kills = n
	}
	for i := range kills {
		args := append(append(slices.Clone(h.flags), safeOptions...), "--install", next)
		cmd := exec.CommandContext(t.Context(), "dpkg", args...)
		cmd.Env = environment()
		h.must(cmd.Start())
		time.Sleep(time.Duration(rand.IntN(150)) * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if h.Configure(t.Context(), []string{"kubelet"}) != nil {
			unfinished++
		}
		if i%2 == 0 {
			h.install(next)
			h.at(map[string]string{"kubelet": "2"})
		}
		h.rollBack(previous...)
		h.at(map[string]string{"kubelet": "1"})
		if t.Failed() {
			t.FailNow()
		}
	}
	t.Logf("%d of %d kills needed another installation", unfinished, kills)
}
