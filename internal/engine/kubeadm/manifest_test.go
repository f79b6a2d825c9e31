package kubeadm

import "testing"

func TestManifestIsParsed(t *testing.T) {
	m, err := Parse(onDisk(t)[Etcd])
	if err != nil {
		t.Fatal(err)
	}
	if m.Component != Etcd || m.Version() != "3.6.6" || m.Command[0] != "etcd" || m.Flags["name"][0] != "node-cp-2" || len(m.Mounts) != 2 {
		t.Errorf("got %+v", m)
	}
	if want := (Mount{HostPath: "/var/lib/etcd", Path: "/var/lib/etcd"}); m.Mounts[0] != want {
		t.Errorf("got %+v", m.Mounts)
	}
	if address, port, err := LocalEndpoint(onDisk(t)[APIServer]); err != nil || address != "10.0.0.12" || port != 6443 {
		t.Errorf("got %s %d %v", address, port, err)
	}
	if _, _, err := LocalEndpoint(onDisk(t)[Scheduler]); err == nil {
		t.Error("an endpoint was found in a manifest without one")
	}
}

func TestVersionsOfImages(t *testing.T) {
	for image, want := range map[string]string{
		"registry.k8s.io/kube-apiserver:v1.36.3":                 "v1.36.3",
		"registry.local:5000/kube-apiserver":                     "",
		"registry.local:5000/kube-apiserver:v1.36.3-1@sha256:00": "v1.36.3-1",
	} {
		if got := (Manifest{Component: APIServer, Image: image}).Version(); got != want {
			t.Errorf("%s: got %q, want %q", image, got, want)
		}
	}
}

func TestInvalidManifestsAreRefused(t *testing.T) {
	for _, text := range []string{"", "kind: Pod", "kind: Service\nspec: {containers: [{name: a}]}", "{"} {
		if _, err := Parse([]byte(text)); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}
