package kubeadm

import (
	"strings"
	"testing"
)

func TestNodeThatJoinedHasNoDrift(t *testing.T) {
	disk := onDisk(t)
	rendered := replaced(disk, Etcd, "    - --initial-cluster-state=existing\n", "", "node-cp-1=https://10.0.0.11:2380,", "", ":3.6.6-0", ":3.6.8-0")
	if drift := Drift(disk, rendered); len(drift) != 0 {
		t.Errorf("got %q", drift)
	}
}

func TestRealKubeadmOfTheSameMinorFindsNoDrift(t *testing.T) {
	k, to := realKubeadm(t, "v1.35")
	text := strings.NewReplacer("proxy: {disabled: true}\n", "proxy: {}\n", `  extraArgs:
  - {name: profiling, value: "false"}
`, "").Replace(clusterConfiguration) + "controllerManager: {extraArgs: [{name: allocate-node-cidrs, value: \"false\"}]}\n"
	rendered, err := k.Render(t.Context(), input(t, to, text))
	if err != nil {
		t.Fatal(err)
	}
	for _, difference := range Drift(onDisk(t), rendered) {
		// These mounts depend on the host that renders.
		if !strings.Contains(difference, "the mount /") || !strings.Contains(difference, "ca-certificates") && !strings.Contains(difference, "/pki") {
			t.Error(difference)
		}
	}
}

func TestEveryDifferenceIsReportedWithoutItsValue(t *testing.T) {
	rendered := onDisk(t)
	for _, c := range []struct {
		component, old, new, want string
	}{
		{APIServer, "    - --allow-privileged=true\n", "    - --allow-privileged=true\n    - --token-auth-file=/secret/path\n", "kube-apiserver: the flag --token-auth-file is not set by kubeadm"},
		{APIServer, "    - --allow-privileged=true\n", "", "kube-apiserver: the flag --allow-privileged of kubeadm is missing"},
		{APIServer, "--allow-privileged=true", "--allow-privileged=false", "kube-apiserver: the flag --allow-privileged differs from that of kubeadm"},
		{APIServer, "    imagePullPolicy", "    env: [{name: HTTP_PROXY, value: 'http://user:secret@x'}]\n    imagePullPolicy", "kube-apiserver: the environment variable HTTP_PROXY is not set by kubeadm"},
		{Etcd, "    - mountPath: /etc/kubernetes/pki/etcd\n", "    - mountPath: /extra\n", "etcd: the mount /etc/kubernetes/pki/etcd of kubeadm is missing"},
		{Scheduler, "cpu: 100m", "cpu: 200m", "kube-scheduler: the request for cpu differs from that of kubeadm"},
		{Scheduler, "registry.k8s.io/", "mirror.local/", "kube-scheduler: the image is mirror.local/kube-scheduler, that of kubeadm is registry.k8s.io/kube-scheduler"},
		{Scheduler, "    - kube-scheduler\n", "    - /wrapper\n", "kube-scheduler: the command differs from that of kubeadm"},
	} {
		drift := Drift(replaced(rendered, c.component, c.old, c.new), rendered)
		if len(drift) == 0 || !strings.Contains(strings.Join(drift, "\n"), c.want) {
			t.Errorf("got %q, want %q", drift, c.want)
		}
		for _, difference := range drift {
			if strings.Contains(difference, "secret") || len([]rune(difference)) > maxDifference {
				t.Errorf("the difference contains a value: %s", difference)
			}
		}
	}
}

func TestInvalidManifestIsDriftAndMissingOneIsNot(t *testing.T) {
	rendered, disk := onDisk(t), onDisk(t)
	delete(disk, Etcd)
	disk[Scheduler] = []byte("{")
	if drift := Drift(disk, rendered); len(drift) != 1 || drift[0] != "kube-scheduler: the manifest is not readable" {
		t.Errorf("got %q", drift)
	}
}
