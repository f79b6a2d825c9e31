package rehearsal_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/refit-dev/refit/internal/upgrade/rehearsal"
)

// sample reads a manifest that kubeadm rendered.
func sample(t *testing.T, name string) rehearsal.Manifest {
	t.Helper()
	text, err := os.ReadFile("../../engine/kubeadm/testdata/manifests/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	if text, err = yaml.ToJSON(text); err != nil {
		t.Fatal(err)
	}
	var pod struct {
		Spec struct {
			Containers []struct {
				Image        string
				Command      []string
				VolumeMounts []struct{ Name, MountPath string }
			}
			Volumes []struct {
				Name     string
				HostPath struct{ Path, Type string }
			}
		}
	}
	if err := json.Unmarshal(text, &pod); err != nil {
		t.Fatal(err)
	}
	container := pod.Spec.Containers[0]
	m := rehearsal.Manifest{Image: container.Image, Command: container.Command}
	for _, mount := range container.VolumeMounts {
		for _, volume := range pod.Spec.Volumes {
			if volume.Name == mount.Name {
				m.Mounts = append(m.Mounts, rehearsal.Mount{Path: mount.MountPath, HostPath: volume.HostPath.Path, Type: volume.HostPath.Type})
			}
		}
	}
	return m
}

func TestHostPathOfAFileInTheContainer(t *testing.T) {
	m := rehearsal.Manifest{Mounts: []rehearsal.Mount{
		{Path: "/etc/kubernetes/pki", HostPath: "/srv/pki"},
		{Path: "/etc/kubernetes/pki/etcd", HostPath: "/srv/etcd"},
		{Path: "/cache"},
	}}
	for file, want := range map[string]string{
		"/etc/kubernetes/pki/ca.crt":      "/srv/pki/ca.crt",
		"/etc/kubernetes/pki/etcd/ca.crt": "/srv/etcd/ca.crt",
		"/etc/kubernetes/pki":             "/srv/pki",
		"/etc/kubernetes/pkitoo/ca.crt":   "",
		"/cache/x":                        "",
		"":                                "",
	} {
		if got, ok := m.HostPath(file); got != want || ok != (want != "") {
			t.Errorf("%s is %q", file, got)
		}
	}
}

func TestFlagsOfAManifest(t *testing.T) {
	m := rehearsal.Manifest{
		Command: []string{"kube-apiserver", "--audit_policy_file", "/a", "--v=2", "--v=$(LEVEL)", "--profiling"},
		Env:     map[string]string{"LEVEL": "4", "HTTPS_PROXY": "http://proxy", "no_proxy": "x", "GOGC": "50"},
	}
	for name, want := range map[string]string{"audit-policy-file": "/a", "v": "4", "profiling": "true", "missing": ""} {
		if got := m.Flag(name); got != want {
			t.Errorf("--%s is %q, want %q", name, got, want)
		}
	}
	if got := m.Environment(); !slices.Equal(got, []string{"GOGC=50", "LEVEL=4"}) {
		t.Errorf("the environment is %v", got)
	}
}

func TestAPIServerKeepsTheFlagsOfItsManifest(t *testing.T) {
	m := sample(t, "kube-apiserver")
	m.Command = append(m.Command, "--etcd-servers-overrides", "/events#https://10.0.0.9:2379", "--audit-log-path=/var/log/audit.log", "--audit-policy-file=/etc/audit.yaml")
	got := rehearsal.APIServer(m, true)
	kept := slices.DeleteFunc(slices.Clone(got), func(word string) bool { return !slices.Contains(m.Command, word) })
	want := []string{
		"--allow-privileged=true", "--authorization-mode=Node,RBAC", "--client-ca-file=/etc/kubernetes/pki/ca.crt",
		"--enable-admission-plugins=NodeRestriction", "--enable-bootstrap-token-auth=true",
		"--kubelet-client-certificate=/etc/kubernetes/pki/apiserver-kubelet-client.crt",
		"--kubelet-client-key=/etc/kubernetes/pki/apiserver-kubelet-client.key",
		"--kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname",
		"--proxy-client-cert-file=/etc/kubernetes/pki/front-proxy-client.crt", "--proxy-client-key-file=/etc/kubernetes/pki/front-proxy-client.key",
		"--requestheader-allowed-names=front-proxy-client", "--requestheader-client-ca-file=/etc/kubernetes/pki/front-proxy-ca.crt",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-", "--requestheader-group-headers=X-Remote-Group",
		"--requestheader-username-headers=X-Remote-User", "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=/etc/kubernetes/pki/sa.pub", "--service-account-signing-key-file=/etc/kubernetes/pki/sa.key",
		"--service-cluster-ip-range=10.96.0.0/16", "--tls-cert-file=/etc/kubernetes/pki/apiserver.crt",
		"--tls-private-key-file=/etc/kubernetes/pki/apiserver.key", "--audit-policy-file=/etc/audit.yaml",
		"--secure-port=6443", // the value of the rehearsal is the same
	}
	if !slices.Equal(want, kept) {
		t.Errorf("%v", kept)
	}
}

// Nothing in a command of a rehearsal may name an address of the cluster or its data.
func TestCommandsReachOnlyTheRehearsal(t *testing.T) {
	commands := map[string][]string{
		"kube-apiserver": rehearsal.APIServer(sample(t, "kube-apiserver"), true),
		"etcd":           rehearsal.Etcd(sample(t, "etcd")),
	}
	for name, words := range commands {
		for _, word := range words {
			if strings.Contains(word, "10.0.0.") || strings.Contains(word, "/var/lib/etcd") || strings.Contains(word, "https://127.0.0.1:23") {
				t.Errorf("%s has %s", name, word)
			}
		}
	}
	for name, flags := range map[string][]string{
		"kube-apiserver": {"--etcd-servers=http://127.0.0.1:2379", "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none"},
		"etcd":           {"--data-dir=/.refit/scratch/data", "--listen-client-urls=http://127.0.0.1:2379", "--listen-peer-urls=http://127.0.0.1:2380", "--snapshot-count=10000"},
	} {
		for _, flag := range flags {
			if !slices.Contains(commands[name], flag) {
				t.Errorf("%s lacks %s: %v", name, flag, commands[name])
			}
		}
	}
}

func TestWatchCacheIsLeftOutOnlyOnRequest(t *testing.T) {
	m := rehearsal.Manifest{Command: []string{"kube-apiserver", "--watch-cache=true", "--watch-cache-sizes=pods#10"}}
	if got := rehearsal.APIServer(m, true); got[0] != "--watch-cache=true" || slices.Contains(got, "--watch-cache=false") {
		t.Errorf("%v", got)
	}
	if got := rehearsal.APIServer(m, false); got[0] != "--watch-cache-sizes=pods#10" || !slices.Contains(got, "--watch-cache=false") {
		t.Errorf("%v", got)
	}
	if again := rehearsal.APIServer(m, true); slices.Contains(again, "--watch-cache=false") {
		t.Error("one rehearsal changed the table for the next")
	}
}
