package report

import (
	"os"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/host"
)

func TestWorkerWithAdminConfIsAWorker(t *testing.T) {
	s := rooted(t, map[string]string{"/etc/kubernetes/admin.conf": "apiVersion: v1\nkind: Config\n"})
	if s.controlPlane() {
		t.Error("it is reported as a control plane node")
	}
	must(t, os.WriteFile(s.path(managerConf), nil, 0o600))
	if !s.controlPlane() {
		t.Error("a control plane node without manifests is reported as a worker")
	}
}

func TestConfigFileOfTheKubelet(t *testing.T) {
	const elsewhere = "/etc/kubernetes/kubelet-config.yaml"
	for name, c := range map[string]struct {
		args []string
		link bool
		want string
	}{
		"as kubeadm starts it":            {[]string{"--config=/var/lib/kubelet/config.yaml"}, false, kubeletConfig},
		"as kubespray starts it":          {[]string{"--config", elsewhere}, false, elsewhere},
		"a symlink to the one of kubeadm": {[]string{"--config=" + elsewhere}, true, kubeletConfig},
		"only flags":                      {[]string{"--v=2"}, false, ""},
		"the last one of several counts":  {[]string{"--config=/x", "--config=" + elsewhere, "--config-dir=/y"}, false, elsewhere},
	} {
		t.Run(name, func(t *testing.T) {
			s := rooted(t, map[string]string{kubeletConfig: "kind: KubeletConfiguration\n", elsewhere: "kind: KubeletConfiguration\n"})
			if c.link {
				must(t, os.Remove(s.path(elsewhere)))
				must(t, os.Symlink("../../var/lib/kubelet/config.yaml", s.path(elsewhere)))
			}
			facts, err := s.kubeletFacts(host.Unit{ExecStart: append([]string{"/usr/bin/kubelet"}, c.args...)})
			must(t, err)
			if facts.ConfigFile != c.want {
				t.Errorf("got %q", facts.ConfigFile)
			}
		})
	}
}

func TestLongConfigFileIsClipped(t *testing.T) {
	long := "/" + strings.Repeat("x", 200)
	s := refitv1alpha1.NodeReportStatus{Kubelet: &refitv1alpha1.KubeletFacts{ConfigFile: long}}
	bound(&s, "worker-1")
	if len([]rune(s.Kubelet.ConfigFile)) > maxPath {
		t.Errorf("it is %q", s.Kubelet.ConfigFile)
	}
}
