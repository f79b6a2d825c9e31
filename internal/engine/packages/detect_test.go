package packages

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestOwnerFindsEachAliasOfAPath(t *testing.T) {
	h := newHost(t)
	h.install(h.pack("kubelet", "1", part{"/usr/bin/odd[1]*", "x"}))
	for path, want := range map[string]string{
		"/usr/bin/kubelet":                        "kubelet",
		"/lib/systemd/system/kubelet.service":     "kubelet",
		"/usr/lib/systemd/system/kubelet.service": "kubelet",
		"/usr/bin/odd[1]*":                        "kubelet",
		"/usr/bin/kube*":                          "",
		"/usr/local/bin/kubelet":                  "",
		"kubelet":                                 "",
	} {
		got, err := h.Owner(t.Context(), path)
		if err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", path, got, err, want)
		}
	}
}

func TestDetectBinaryWithoutAPackage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kubelet")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, owner, err := Detect(t.Context(), path); got != refitv1alpha1.PackageBinary || owner != "" || err != nil {
		t.Errorf("%s, %q, %v", got, owner, err)
	}
}

func TestDetectDebPackage(t *testing.T) {
	if _, err := exec.LookPath("dpkg-query"); err != nil {
		t.Skip("dpkg is not installed")
	}
	if got, owner, err := Detect(t.Context(), "/usr/bin/dpkg"); got != refitv1alpha1.PackageDeb || owner != "dpkg" || err != nil {
		t.Errorf("%s, %q, %v", got, owner, err)
	}
}

func TestVerifyReportsBinariesAndNotConfiguration(t *testing.T) {
	h := newHost(t)
	h.install(h.pack("kubelet", "1", part{"/usr/share/doc/kubelet/readme", "x"}))
	h.must(os.RemoveAll(filepath.Join(h.root, "usr/share/doc")))
	h.write("/etc/kubelet.conf", "mine\n")
	h.at(map[string]string{"kubelet": "1"})
	h.write("/usr/bin/kubelet", "changed")
	h.must(os.Remove(filepath.Join(h.root, "lib/systemd/system/kubelet.service")))
	problems, err := h.Verify(t.Context(), []string{"kubelet", "kubeadm"})
	h.must(err)
	want := []string{"kubeadm is not installed", "/lib/systemd/system/kubelet.service is missing", "/usr/bin/kubelet was changed"}
	slices.Sort(problems[1:])
	if !slices.Equal(problems, want) {
		t.Errorf("problems: %q", problems)
	}
}

func TestOptionIsNotAPackageName(t *testing.T) {
	h := newHost(t)
	if _, err := h.Installed(t.Context(), "--root=/"); reason(t, err) != "InvalidPackageName" {
		t.Error(err)
	}
}
