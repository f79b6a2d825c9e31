package node

import (
	"slices"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestImagesOfComponents(t *testing.T) {
	for _, c := range []struct {
		situation    string
		images, want []string
	}{
		{
			"kubeadm's default repository",
			[]string{"registry.k8s.io/kube-apiserver:v1.36.3", "registry.k8s.io/coredns/coredns:v1.14.2", "registry.k8s.io/pause:3.10.2", "registry.k8s.io/lws/lws:v0.8.0"},
			[]string{"registry.k8s.io/lws/lws:v0.8.0"},
		},
		{
			"a repository of the publisher, with a port",
			[]string{"mirror:5000/k8s/etcd:3.6.8-0", "mirror:5000/k8s/coredns:v1.14.2", "mirror:5000/k8s/kube-apiserver:v1.36.3", "mirror:5000/app:1"},
			[]string{"mirror:5000/app:1"},
		},
		{
			"a component whose image has a name of kubeadm's",
			[]string{"registry.k8s.io/kube-apiserver:v1.36.3", "registry.k8s.io/etcd:3.6.8-0", "example.com/overprovisioner/pause:3.10.2", "example.com/vault/etcd:3.6.8-0"},
			[]string{"example.com/overprovisioner/pause:3.10.2", "example.com/vault/etcd:3.6.8-0"},
		},
		{"no image of an API server", []string{"example.com/pause:3.10.2", "example.com/app:1"}, []string{"example.com/app:1"}},
	} {
		var p refitv1alpha1.ReleasePayload
		for _, image := range c.images {
			p.Images = append(p.Images, refitv1alpha1.ReleaseImage{Name: image})
		}
		var got []string
		for _, image := range WithoutKubernetesImages(p).Images {
			got = append(got, image.Name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", c.situation, got)
		}
	}
}
