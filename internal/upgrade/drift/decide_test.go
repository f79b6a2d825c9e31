package drift

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// audited is a running API server with an audit log that kubeadm does not know of.
func audited() Pod {
	return Pod{
		Flags: map[string][]string{
			"allow-privileged": {"true"}, "audit-policy-file": {"/etc/kubernetes/audit/policy.yaml"}, "audit-log-path": {"/var/log/audit/audit.log"},
		},
		Mounts: []Mount{
			{Volume: "k8s-certs", HostPath: "/etc/kubernetes/pki", Path: "/etc/kubernetes/pki", ReadOnly: true, PathType: "DirectoryOrCreate"},
			{Volume: "audit", HostPath: "/etc/kubernetes/audit", Path: "/etc/kubernetes/audit", ReadOnly: true},
			{Volume: "audit-log", HostPath: "/srv/audit", Path: "/var/log/audit", PathType: "DirectoryOrCreate"},
		},
	}
}

func settings(t *testing.T, texts ...string) []Setting {
	t.Helper()
	var out []Setting
	for _, text := range texts {
		s, err := ParseSetting(text)
		if err != nil {
			t.Fatal(err)
		}
		if s.String() != text {
			t.Errorf("%q becomes %q", text, s)
		}
		out = append(out, s)
	}
	return out
}

// input has three control plane nodes with an audit log.
func input(t *testing.T) Input {
	t.Helper()
	in := Input{
		Node: "cp-1", Pods: Pods{}, Config: Config{RepeatsFlags: true},
		Lost: settings(t, "kube-apiserver --audit-log-path", "kube-apiserver --audit-policy-file", "kube-apiserver mount /etc/kubernetes/audit", "kube-apiserver mount /var/log/audit"),
	}
	for _, node := range []string{"cp-1", "cp-2", "cp-3"} {
		in.Pods[node] = map[string]Pod{"kube-apiserver": audited()}
	}
	return in
}

func TestSettingsOfAllNodesAreKept(t *testing.T) {
	d := Decide(input(t))
	if len(d.NotKept) != 0 || len(d.Kept) != 1 {
		t.Fatalf("got %+v", d)
	}
	kept := d.Kept[0]
	if want := []Arg{{"audit-log-path", "/var/log/audit/audit.log"}, {"audit-policy-file", "/etc/kubernetes/audit/policy.yaml"}}; !slices.Equal(kept.Args, want) {
		t.Errorf("the arguments are %v", kept.Args)
	}
	if want := audited().Mounts[1:]; !slices.Equal(kept.Volumes, want) {
		t.Errorf("the volumes are %v", kept.Volumes)
	}
}

func TestNothingLostIsNothingToKeep(t *testing.T) {
	in := input(t)
	in.Lost = nil
	if d := Decide(in); len(d.Kept)+len(d.NotKept) != 0 {
		t.Errorf("got %+v", d)
	}
}

// changed returns the input with other flags or mounts on a node.
func changed(t *testing.T, node string, change func(*Pod)) Input {
	t.Helper()
	in := input(t)
	pod := audited()
	pod.Flags = maps.Clone(pod.Flags)
	change(&pod)
	in.Pods[node]["kube-apiserver"] = pod
	return in
}

func TestComponentsThatAreNotKept(t *testing.T) {
	everywhere := func(change func(*Pod)) Input {
		in := input(t)
		for node := range in.Pods {
			in.Pods[node]["kube-apiserver"] = changed(t, node, change).Pods[node]["kube-apiserver"]
		}
		return in
	}
	withSetting := func(in Input, text string) Input {
		in.Lost = append(in.Lost, settings(t, text)...)
		return in
	}
	for situation, c := range map[string]struct {
		in     Input
		reason string
		patch  bool
	}{
		"another value on another node": {
			changed(t, "cp-2", func(p *Pod) { p.Flags["audit-log-path"] = []string{"-"} }),
			"kube-apiserver --audit-log-path is not the same on cp-2", true,
		},
		"no such flag on another node": {
			changed(t, "cp-3", func(p *Pod) { delete(p.Flags, "audit-policy-file") }),
			"kube-apiserver --audit-policy-file is not the same on cp-3", true,
		},
		"another path on the host of another node": {
			changed(t, "cp-2", func(p *Pod) { p.Mounts[2].HostPath = "/data" }),
			"kube-apiserver mount /var/log/audit is not the same on cp-2", true,
		},
		"a flag that the pod does not have yet": {
			changed(t, "cp-1", func(p *Pod) { delete(p.Flags, "audit-policy-file") }),
			"the running pod on cp-1 does not have kube-apiserver --audit-policy-file", false,
		},
		"a password": {
			withSetting(everywhere(func(p *Pod) { p.Flags["oidc-issuer-url"] = []string{"https://user:hidden@issuer"} }), "kube-apiserver --oidc-issuer-url"),
			"the value of kube-apiserver --oidc-issuer-url contains a password", false,
		},
		"a volume that is not of the host": {
			everywhere(func(p *Pod) { p.Mounts[1].HostPath = "" }),
			"the volume of kube-apiserver mount /etc/kubernetes/audit is not a hostPath", false,
		},
		"a flag of kubeadm with another value on another node": {
			withSetting(changed(t, "cp-1", func(p *Pod) { p.Flags["tls-cert-file"] = []string{"/own.crt"} }), "kube-apiserver --tls-cert-file"),
			"kube-apiserver --tls-cert-file is not the same on cp-2, cp-3", false,
		},
	} {
		t.Run(situation, func(t *testing.T) {
			d := Decide(c.in)
			if len(d.Kept) != 0 || len(d.NotKept) != 1 {
				t.Fatalf("got %+v", d)
			}
			e := d.NotKept[0]
			if !strings.Contains(strings.Join(e.Reasons, "\n"), c.reason) {
				t.Errorf("the reasons are %q, want %q", e.Reasons, c.reason)
			}
			if strings.Contains(strings.Join(e.Reasons, "\n"), "hidden") {
				t.Errorf("the reasons have the password: %q", e.Reasons)
			}
			if len(e.Settings) != len(c.in.Lost) || len(e.Patch) > 0 != c.patch {
				t.Errorf("got %+v", e)
			}
		})
	}
}

func TestSeveralValuesNeedALaterConfiguration(t *testing.T) {
	in := input(t)
	in.Lost = settings(t, "kube-apiserver --tls-sni-cert-key")
	for node := range in.Pods {
		in.Pods[node]["kube-apiserver"] = Pod{Flags: map[string][]string{"tls-sni-cert-key": {"/b", "/a"}}}
	}
	if d := Decide(in); len(d.Kept) != 1 || !slices.Equal(d.Kept[0].Args, []Arg{{"tls-sni-cert-key", "/b"}, {"tls-sni-cert-key", "/a"}}) {
		t.Errorf("got %+v", d)
	}
	in.Config.RepeatsFlags = false
	if d := Decide(in); len(d.NotKept) != 1 || len(d.NotKept[0].Patch) != 2 {
		t.Errorf("got %+v", d)
	}
}

func TestComponentsAreDecidedApart(t *testing.T) {
	in := changed(t, "cp-2", func(p *Pod) { p.Flags["audit-log-path"] = []string{"-"} })
	in.Lost = append(in.Lost, settings(t, "kube-scheduler --tls-min-version", "etcd mount /certs")...)
	for node := range in.Pods {
		in.Pods[node]["kube-scheduler"] = Pod{Flags: map[string][]string{"tls-min-version": {"VersionTLS13"}}}
		in.Pods[node]["etcd"] = Pod{Mounts: []Mount{{Volume: "certs", HostPath: "/certs", Path: "/certs"}}}
	}
	d := Decide(in)
	if len(d.Kept) != 1 || d.Kept[0].Component != "kube-scheduler" || len(d.NotKept) != 2 || d.NotKept[0].Component != "etcd" || len(d.NotKept[0].Patch) != 2 {
		t.Errorf("got %+v", d)
	}
}

func TestVolumesHaveTheirOwnNames(t *testing.T) {
	in := input(t)
	pod := audited()
	pod.Mounts = append(pod.Mounts, Mount{Volume: "audit", HostPath: "/etc/kubernetes/audit", Path: "/again"}, Mount{Volume: "k8s-certs", HostPath: "/etc/kubernetes/pki", Path: "/pki"})
	for node := range in.Pods {
		in.Pods[node]["kube-apiserver"] = pod
	}
	in.Lost = append(in.Lost, settings(t, "kube-apiserver mount /again", "kube-apiserver mount /pki")...)
	in.Config.Volumes = map[string]map[string]string{"kube-apiserver": {"audit-log": "/elsewhere"}}
	got := map[string]string{}
	for _, v := range Decide(in).Kept[0].Volumes {
		got[v.Volume] = v.Path
	}
	want := map[string]string{"audit": "/etc/kubernetes/audit", "audit-log-2": "/var/log/audit", "audit-2": "/again", "k8s-certs-2": "/pki"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestSettingsThatCannotBeParsed(t *testing.T) {
	for _, text := range []string{"", "kube-apiserver", "kube-apiserver --", "kube-apiserver mount audit", " --audit-policy-file", "kube-apiserver something"} {
		if s, err := ParseSetting(text); err == nil {
			t.Errorf("%q is %+v", text, s)
		}
	}
}
