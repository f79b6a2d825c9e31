package rehearsal

import (
	"os"
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/upgrade/rehearsal"
)

func TestParseManifest(t *testing.T) {
	text, err := os.ReadFile("../kubeadm/testdata/manifests/kube-apiserver.yaml")
	if err != nil {
		t.Fatal(err)
	}
	m, err := ParseManifest(text)
	if err != nil {
		t.Fatal(err)
	}
	if m.Image != "registry.k8s.io/kube-apiserver:v1.35.4" || m.Command[0] != "kube-apiserver" || len(m.Mounts) != 5 {
		t.Errorf("%+v", m)
	}
	want := rehearsal.Mount{Path: "/etc/kubernetes/pki", HostPath: "/etc/kubernetes/pki", Type: "DirectoryOrCreate"}
	if m.Mounts[2] != want {
		t.Errorf("%+v", m.Mounts[2])
	}
}

func TestMountsOfAManifest(t *testing.T) {
	m, err := ParseManifest([]byte(`
kind: Pod
metadata: {labels: {component: kube-apiserver}}
spec:
  containers:
  - {name: sidecar, image: other}
  - name: kube-apiserver
    image: server
    command: [kube-apiserver]
    args: [--v=2]
    env: [{name: GOGC, value: "50"}]
    volumeMounts:
    - {name: config, mountPath: /etc/audit.yaml, subPath: audit.yaml}
    - {name: cache, mountPath: /cache/}
  volumes:
  - {name: config, hostPath: {path: /srv/config, type: Directory}}
  - {name: cache, emptyDir: {}}
`))
	if err != nil {
		t.Fatal(err)
	}
	if m.Image != "server" || strings.Join(m.Command, " ") != "kube-apiserver --v=2" || m.Env["GOGC"] != "50" {
		t.Errorf("%+v", m)
	}
	if m.Mounts[0] != (rehearsal.Mount{Path: "/etc/audit.yaml", HostPath: "/srv/config/audit.yaml"}) || m.Mounts[1] != (rehearsal.Mount{Path: "/cache"}) {
		t.Errorf("%+v", m.Mounts)
	}
}

func TestInvalidManifests(t *testing.T) {
	for _, text := range []string{"{", "kind: Pod", "kind: Secret\nspec: {containers: [{name: x}]}"} {
		if m, err := ParseManifest([]byte(text)); err == nil {
			t.Errorf("%q: %+v", text, m)
		}
	}
}

func TestAvailableMemory(t *testing.T) {
	if got, err := availableIn("MemTotal:       24000000 kB\nMemAvailable:    1024 kB\n"); err != nil || got != 1<<20 {
		t.Errorf("%d, %v", got, err)
	}
	for _, text := range []string{"", "MemAvailable: many kB\n"} {
		if got, err := availableIn(text); err == nil {
			t.Errorf("%q: %d", text, got)
		}
	}
}

func TestTail(t *testing.T) {
	file := t.TempDir() + "/log"
	long := strings.Repeat("a line that is cut\n", maxTail/10) + "the end\x1b[31m\n"
	if err := os.WriteFile(file, []byte(long), 0o600); err != nil {
		t.Fatal(err)
	}
	got := tail(file)
	if len(got) > maxTail || !strings.HasPrefix(got, "a line") || !strings.HasSuffix(got, "the end [31m") {
		t.Errorf("%d characters, %q … %q", len(got), got[:20], got[len(got)-20:])
	}
	if tail(file+".missing") != "" {
		t.Error("a missing log is not empty")
	}
}
