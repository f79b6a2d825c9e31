package packages

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

func TestRpmUpgradeThenInstallAgain(t *testing.T) {
	h := newRpmHost(t)
	h.install(h.pack("kubelet", "1.35.4-1"))
	h.at(map[string]string{"kubelet": "1.35.4-1"})
	next := h.pack("kubelet", "1.36.3-1", ran("post", "'ran'"))
	h.install(next)
	h.install(next)
	h.at(map[string]string{"kubelet": "1.36.3-1", "other": ""})
	if got := h.read("/ran"); got != "ran\n" {
		t.Errorf("the script ran %q", got)
	}
	if got := h.read("/usr/bin/kubelet"); !strings.Contains(got, "1.36.3") {
		t.Errorf("the binary is %q", got)
	}
}

func TestRpmOwnerOfAFile(t *testing.T) {
	h := newRpmHost(t)
	h.install(h.pack("kubelet", "1-1"))
	h.write("/usr/local/bin/kubelet", "")
	for path, want := range map[string]string{
		"/usr/bin/kubelet":       "kubelet",
		"/usr/bin/kubelet-link":  "kubelet",
		"/usr/local/bin/kubelet": "",
		"/usr/bin/absent":        "",
		"kubelet":                "",
	} {
		got, err := h.Owner(t.Context(), path)
		if err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", path, got, err, want)
		}
	}
}

// A host whose database cannot be read must not pass as one without packages.
func TestRpmDatabaseThatCannotBeRead(t *testing.T) {
	h := newRpmHost(t)
	h.install(h.pack("kubelet", "1-1"))
	databases, err := filepath.Glob(h.onDisk("/var/lib/rpm/rpmdb.sqlite*"))
	h.must(err)
	for _, path := range databases {
		h.must(os.WriteFile(path, []byte("garbage"), 0o600))
	}
	if _, err := h.Owner(t.Context(), "/usr/bin/kubelet"); err == nil {
		t.Error("the binary passes as a plain file")
	}
	if _, err := h.Installed(t.Context(), "kubelet"); err == nil {
		t.Error("the package passes as not installed")
	}
}

func TestRpmCheckRefusesWhatInstallWouldRefuse(t *testing.T) {
	h := newRpmHost(t)
	h.install(h.pack("kubelet", "1.36.3-1"))
	broken := filepath.Join(t.TempDir(), "broken.rpm")
	h.must(os.WriteFile(broken, []byte("not a package"), 0o600))
	for _, c := range []struct {
		situation, want string
		files           []string
		options         Options
	}{
		{"a newer version", "", []string{h.pack("kubelet", "1.37.0-1")}, Options{}},
		{"a newer version by number", "", []string{h.pack("kubelet", "1.100.0-1")}, Options{}},
		{"the installed version", "", []string{h.pack("kubelet", "1.36.3-1")}, Options{}},
		{"a lower version", "DowngradeRefused", []string{h.pack("kubelet", "1.35.4-1")}, Options{}},
		{"a lower version in a rollback", "", []string{h.pack("kubelet", "1.35.4-1")}, Options{Downgrade: true}},
		{"an unmet dependency", "UnmetDependencies", []string{h.pack("kubelet", "2-1", "Requires: nowhere >= 2")}, Options{}},
		{"another operating system", "InstallRefused", []string{h.packFor("plan9")}, Options{}},
		{"not a package", "PackageUnreadable", []string{broken}, Options{}},
		{"one of two is not a package", "PackageUnreadable", []string{h.pack("kubeadm", "1.37.0-1"), broken}, Options{}},
		{"two files of a package", "DuplicatePackage", []string{h.pack("kubelet", "3-1"), h.pack("kubelet", "4-1")}, Options{}},
		{"an invalid name", "InvalidPackageName", []string{h.pack("kubelet", "1.37.0-1")}, Options{Hold: []string{"-x"}}},
	} {
		err := h.Check(t.Context(), c.files, c.options)
		if c.want == "" && err != nil || c.want != "" && reason(t, err) != c.want {
			t.Errorf("%s: %v", c.situation, err)
		}
		if c.want == "UnmetDependencies" && !strings.Contains(node.FailureOf(err).LogTail, "nowhere") {
			t.Errorf("the dependency is not named: %s", node.FailureOf(err).LogTail)
		}
		h.at(map[string]string{"kubelet": "1.36.3-1", "kubeadm": ""})
	}
}

// packFor returns a newer kubelet whose header names another operating system.
func (h *rpmHost) packFor(system string) string {
	h.Helper()
	file := h.pack("kubelet", "5-1")
	r := rpm{root: h.TempDir(), lockTimeout: time.Second}
	r.flags = []string{"--root", r.root, "--dbpath", "/var/lib/rpm"}
	h.must(r.Install(h.Context(), []string{file}, Options{}))
	header, err := r.installedHeader(h.Context(), "kubelet")
	h.must(err)
	const tagOS = 1021
	header.setText(tagOS, system)
	payload := filepath.Join(h.TempDir(), "payload")
	h.must(os.WriteFile(payload, nil, 0o600))
	for _, tag := range []uint32{tagPayloadDigest, tagPayloadAlgo, tagPayloadAlt} {
		delete(header, tag)
	}
	other := filepath.Join(h.TempDir(), "other.rpm")
	h.must(writePackage(other, "kubelet", header, payload))
	return other
}

func TestRpmVersionsAreComparedByTheirParts(t *testing.T) {
	h := newRpmHost(t)
	for _, c := range []struct {
		a, b  string
		lower bool
	}{
		{"1.35.4-1", "1.36.3-1", true},
		{"1.36.3-1", "1.35.4-1", false},
		{"1.36.3-1", "1.36.3-1", false},
		{"0:1.36.3-1", "1.36.3-1", false},
		{"1.36.3-1", "1:1.35.4-1", true},
		{"1:1.35.4-1", "1.36.3-1", false},
		{"2:1.35.4-1", "10:1.35.4-1", true},
		{"1.36.3-150500.1.1", "1.36.10-150500.1.1", true},
		{"1.36-10", "1.36.1-2", true},
		{"1.36.0~rc.1-1", "1.36.0-1", true},
		{"1.36.0^git1-1", "1.36.0-1", false},
	} {
		if lower, err := h.lower(t.Context(), c.a, c.b); err != nil || lower != c.lower {
			t.Errorf("%s is lower than %s: %v, %v", c.a, c.b, lower, err)
		}
		if got := partsOfVersion(c.a); strings.ContainsAny(strings.Join(got[:], ""), ":-") {
			t.Errorf("the parts of %s are %q", c.a, got) // of an rpm that compares only one part
		}
	}
}

func TestRpmOnlyARollbackInstallsALowerVersion(t *testing.T) {
	h := newRpmHost(t)
	old := h.pack("kubelet", "1.35.4-1")
	h.install(h.pack("kubelet", "1.36.3-1"))
	if got := reason(t, h.Install(t.Context(), []string{old}, Options{})); got != "DowngradeRefused" {
		t.Errorf("reason %s", got)
	}
	h.at(map[string]string{"kubelet": "1.36.3-1"})
	h.rollBack(old)
	h.at(map[string]string{"kubelet": "1.35.4-1"})
}

func TestRpmTruncatedFileChangesNothing(t *testing.T) {
	h := newRpmHost(t)
	h.install(h.pack("kubelet", "1-1"))
	next := h.pack("kubelet", "2-1")
	info, err := os.Stat(next)
	h.must(err)
	h.must(os.Truncate(next, info.Size()-10))
	if err := h.Install(t.Context(), []string{next}, Options{}); err == nil {
		t.Error("a truncated file was installed")
	}
	h.at(map[string]string{"kubelet": "1-1"})
}

func TestRpmScriptsGetACleanEnvironment(t *testing.T) {
	t.Setenv("SECRET", "of the agent")
	h := newSerialRpmHost(t)
	h.install(h.pack("kubelet", "1-1", ran("post", "tostring(os.getenv('SYSTEMD_OFFLINE')) .. tostring(os.getenv('SECRET'))")))
	if got := h.read("/ran"); got != "1nil\n" {
		t.Errorf("the environment of scripts: %q", got)
	}
}

// With the environment of scripts, systemctl restarts nothing: the agent restarts services.
func TestSystemctlInScriptsRestartsNothing(t *testing.T) {
	if _, err := exec.LookPath("systemctl"); err != nil {
		t.Skip("systemctl is not installed")
	}
	for _, args := range [][]string{
		{"restart", "kubelet.service"},
		{"try-restart", "kubelet.service"},
		{"daemon-reload"},
		{"set-property", "kubelet.service", "Markers=+needs-restart"},
		{"reload-or-restart", "--marked"},
		{"start", "kubelet.service"},
		{"stop", "kubelet.service"},
	} {
		cmd := exec.CommandContext(t.Context(), "systemctl", args...)
		cmd.Env = environment()
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "ignoring command '"+args[0]+"'") {
			t.Errorf("systemctl %v: %v: %s", args, err, out)
		}
	}
}

// rpm downloads what has the form of an address.
func TestRpmDownloadsNothing(t *testing.T) {
	h := newRpmHost(t)
	requests := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { requests <- r.URL.Path }))
	defer server.Close()
	if err := h.Install(t.Context(), []string{server.URL + "/kubelet-2-1.noarch.rpm"}, Options{}); err == nil {
		t.Error("an address was installed")
	}
	if len(requests) > 0 {
		t.Errorf("rpm has requested %s", <-requests)
	}
}

// The systemd package restarts marked services in a trigger on the units of all other packages.
func TestRpmTriggersOfOtherPackagesDoNotRun(t *testing.T) {
	h := newRpmHost(t)
	h.install(h.pack("systemd", "1-1", ran("transfiletriggerin -- /usr/lib/systemd/system", "'file trigger'"), ran("triggerin -- kubelet", "'trigger'")))
	_ = os.Remove(h.onDisk("/ran"))
	h.install(h.pack("kubelet", "1-1", ran("post", "'own'")))
	if got := h.read("/ran"); got != "own\n" {
		t.Errorf("ran: %q", got)
	}
}

func TestRpmFailureHasTheLogOfTheScript(t *testing.T) {
	h := newRpmHost(t)
	h.install(h.pack("kubelet", "1-1"))
	err := h.Install(t.Context(), []string{h.pack("kubelet", "2-1", "%pre -p <lua>\nerror('the disk is upside down')")}, Options{})
	if got := reason(t, err); got != "InstallFailed" {
		t.Errorf("reason %s", got)
	}
	if f := node.FailureOf(err); !strings.Contains(f.LogTail, "upside down") {
		t.Errorf("the log is %q", f.LogTail)
	}
	if got := h.read("/usr/bin/kubelet"); !strings.Contains(got, "echo 1-1") {
		t.Errorf("the binary is %q", got)
	}
}

func TestRpmChangedConfigurationIsKept(t *testing.T) {
	h := newRpmHost(t)
	h.install(h.pack("kubelet", "1-1"))
	h.write("/etc/kubelet.conf", "mine\n")
	h.install(h.pack("kubelet", "2-1"))
	if got := h.read("/etc/kubelet.conf"); got != "mine\n" {
		t.Errorf("the configuration is %q", got)
	}
	h.write("/etc/kubelet-replaced.conf", "mine\n")
	next := []string{h.pack("kubelet", "3-1")}
	if got := reason(t, h.Check(t.Context(), next, Options{})); got != "ConfigurationEdited" {
		t.Errorf("reason %s", got)
	}
	if got := reason(t, h.Install(t.Context(), next, Options{})); got != "ConfigurationEdited" {
		t.Errorf("reason %s", got)
	}
	if got := h.read("/etc/kubelet-replaced.conf"); got != "mine\n" {
		t.Errorf("the configuration is %q", got)
	}
}

func TestRpmVerifyReportsBinariesAndNotConfiguration(t *testing.T) {
	h := newRpmHost(t)
	h.install(h.pack("kubelet", "1-1"))
	h.must(os.RemoveAll(h.onDisk("/usr/share/doc")))
	h.write("/etc/kubelet.conf", "mine\n")
	h.must(os.Chmod(h.onDisk("/usr/bin/kubelet"), 0o700))
	h.at(map[string]string{"kubelet": "1-1"})
	h.write("/usr/bin/kubelet", "changed")
	h.must(os.Remove(h.onDisk("/usr/lib/systemd/system/kubelet.service")))
	problems, err := h.Verify(t.Context(), []string{"kubelet", "kubeadm"})
	h.must(err)
	want := []string{"kubeadm is not installed", "/usr/bin/kubelet was changed", "/usr/lib/systemd/system/kubelet.service is missing"}
	slices.Sort(problems[1:])
	if !slices.Equal(problems, want) {
		t.Errorf("problems: %q", problems)
	}
}

func TestRpmVersionLockFollowsTheUpgrade(t *testing.T) {
	h := newRpmHost(t)
	h.install(h.pack("kubelet", "1.35.4-1"), h.pack("kubeadm", "1.35.4-1"))
	locks := "# Added lock\nkubelet-0:1.35.4-1.*\nkubernetes-cni-0:1.6.0-1.*\n!kubectl-0:1.34.0-1.*\ncri-tools*\n"
	h.write(lockList, locks)
	held, err := h.Held(t.Context())
	h.must(err)
	if !slices.Equal(held, []string{"kubelet", "kubernetes-cni"}) {
		t.Errorf("held: %v", held)
	}
	next := []string{h.pack("kubelet", "1.36.3-1"), h.pack("kubeadm", "1.36.3-1")}
	for range 2 { // also after a kill between the transaction and the list
		h.must(h.Install(t.Context(), next, Options{Hold: []string{"kubelet", "elsewhere"}}))
		if got, want := h.read(lockList), strings.ReplaceAll(locks, "kubelet-0:1.35.4-1", "kubelet-0:1.36.3-1"); got != want {
			t.Errorf("the list is %q", got)
		}
	}
}

func TestRpmHostWithoutVersionLock(t *testing.T) {
	h := newRpmHost(t)
	h.must(h.Install(t.Context(), []string{h.pack("kubelet", "1-1")}, Options{Hold: []string{"kubelet"}}))
	if _, err := os.Stat(h.onDisk(lockList)); !errors.Is(err, os.ErrNotExist) {
		t.Error("the list of a plugin that is not installed was created")
	}
	if held, err := h.Held(t.Context()); len(held) > 0 || err != nil {
		t.Errorf("held: %v, %v", held, err)
	}
}

// rpm finishes, Install returns the context's error, and the next call has nothing to do but to
// finish the list.
func TestRpmAgentStopsDuringAnInstallation(t *testing.T) {
	h := newRpmHost(t)
	ctx, cancel := context.WithCancel(t.Context())
	file := h.pack("kubelet", "1-1", "%post -p <lua>\nlocal f = io.open('/started', 'w'); f:close(); posix.sleep(1)")
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(h.onDisk("/started")); err == nil {
				cancel()
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	if err := h.Install(ctx, []string{file}, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if got := reason(t, h.Configure(t.Context(), []string{"kubelet"})); got != HalfInstalled {
		t.Errorf("reason %s", got)
	}
	h.install(file)
	h.at(map[string]string{"kubelet": "1-1"})
	h.must(h.Configure(t.Context(), []string{"kubelet"}))
}

// killAt installs a package and kills rpm when a script of it runs.
func (h *rpmHost) killAt(file string) {
	h.Helper()
	done := make(chan error, 1)
	go func() { done <- h.Install(h.Context(), []string{file}, Options{}) }()
	for start := time.Now(); time.Since(start) < 20*time.Second; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(h.onDisk("/started")); err == nil {
			for _, pid := range children(h.Context(), "rpm") {
				if process, err := os.FindProcess(pid); err == nil && strings.Contains(commandLine(pid), h.root) {
					_ = process.Kill()
				}
			}
			break
		}
	}
	if err := <-done; err == nil {
		h.Error("rpm was not killed")
	}
	h.must(os.Remove(h.onDisk("/started")))
}

func commandLine(pid int) string {
	text, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	return string(text)
}

const waitHere = " -p <lua>\nlocal f = io.open('/started', 'w'); f:close(); posix.sleep(20)"

func TestRpmKilledInEachScript(t *testing.T) {
	for _, script := range []string{"pretrans", "pre", "post", "posttrans"} {
		for _, rollback := range []bool{false, true} {
			t.Run(script, func(t *testing.T) {
				h := newRpmHost(t)
				h.install(h.pack("kubelet", "1.35.4-1"))
				previous := h.prepared()
				h.killAt(h.pack("kubelet", "1.36.3-1", "%"+script+waitHere))
				if got := reason(t, h.Configure(t.Context(), []string{"kubelet"})); got != HalfInstalled {
					t.Errorf("reason %s", got)
				}
				if now, err := h.Installed(t.Context(), "kubelet"); err != nil || now["kubelet"] != "" {
					t.Errorf("a half-installed package passes as installed: %v, %v", now, err)
				}
				if rollback {
					h.rollBack(previous)
					h.at(map[string]string{"kubelet": "1.35.4-1"})
				} else {
					h.install(h.pack("kubelet", "1.36.3-1"))
					h.at(map[string]string{"kubelet": "1.36.3-1"})
				}
				if left, _ := filepath.Glob(h.onDisk("/usr/bin/*;*")); len(left) > 0 {
					t.Errorf("left behind: %v", left)
				}
				h.must(h.Configure(t.Context(), []string{"kubelet"}))
			})
		}
	}
}

// rpm was killed after it renamed the new binary and before it wrote its database.
func TestRpmKilledBetweenFilesAndDatabase(t *testing.T) {
	h := newRpmHost(t)
	h.install(h.pack("kubelet", "1-1"))
	previous := h.prepared()
	h.must(h.setUnfinished([]string{"kubelet"}, true))
	h.write("/usr/bin/kubelet", "the new one")
	h.write("/usr/bin/kubelet;6719a3c1", "unpacked")
	h.rollBack(previous)
	h.at(map[string]string{"kubelet": "1-1"})
	if got := h.read("/usr/bin/kubelet"); !strings.Contains(got, "echo 1-1") {
		t.Errorf("the binary is %q", got)
	}
	if _, err := os.Stat(h.onDisk("/usr/bin/kubelet;6719a3c1")); err == nil {
		t.Error("a temporary file of rpm is left behind")
	}
}
