package steps

import "testing"

func TestImageThatRestoresAnExternalEtcd(t *testing.T) {
	const mirror = "mirror.example:5000/k8s/"
	for situation, tt := range map[string]struct {
		names []string
		want  string
	}{
		"the running version":              {[]string{"registry.k8s.io/pause:3.10", "registry.k8s.io/etcd:3.6.6-0"}, "registry.k8s.io/etcd:3.6.6-0"},
		"the newest patch":                 {[]string{mirror + "etcd:3.6.6-0", mirror + "etcd:3.6.8-0", mirror + "etcd:3.6.7-0"}, mirror + "etcd:3.6.8-0"},
		"an older patch":                   {[]string{"registry.k8s.io/etcd:3.6.4-0"}, "registry.k8s.io/etcd:3.6.4-0"},
		"the minor version before another": {[]string{"registry.k8s.io/etcd:3.7.0-0", "registry.k8s.io/etcd:3.6.4-0"}, "registry.k8s.io/etcd:3.6.4-0"},
		"the next minor version":           {[]string{"registry.k8s.io/etcd:3.7.0-0", "registry.k8s.io/etcd:3.5.26-0"}, "registry.k8s.io/etcd:3.7.0-0"},
		"only an older minor version":      {[]string{"registry.k8s.io/etcd:3.5.26-0"}, ""},
		"only a much newer version":        {[]string{"registry.k8s.io/etcd:3.8.0-0", "registry.k8s.io/etcd:4.6.0"}, ""},
		"other images":                     {[]string{"registry.k8s.io/etcd-operator:3.6.6", "mirror.example:5000/etcd", "registry.k8s.io/etcd:latest"}, ""},
	} {
		if got := etcdImageFor(tt.names, "3.6.6"); got != tt.want {
			t.Errorf("%s: got %q", situation, got)
		}
	}
}
