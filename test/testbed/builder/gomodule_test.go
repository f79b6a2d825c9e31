package builder

import (
	"encoding/json"
	"testing"
)

func TestModuleTextPinsLocalReplacements(t *testing.T) {
	var theirs goMod
	err := json.Unmarshal([]byte(`{"Go": "1.26.0",
		"Require": [{"Path": "github.com/x/y", "Version": "v1.2.3"}, {"Path": "k8s.io/api", "Version": "v0.0.0"}, {"Path": "k8s.io/kubernetes", "Version": "v0.0.0"}],
		"Replace": [{"Old": {"Path": "k8s.io/api"}, "New": {"Path": "./staging/src/k8s.io/api"}},
		            {"Old": {"Path": "github.com/x/y"}, "New": {"Path": "github.com/z/y", "Version": "v1.0.0"}}]}`), &theirs)
	if err != nil {
		t.Fatal(err)
	}
	upstream := []goModule{{Path: "k8s.io/kubernetes", Version: "v1.36.3"}}
	cases := []struct{ situation, staging, want string }{
		{"with libraries of the release", "v0.36.3", `module refit.testbed/kubernetes

go 1.26.0

require (
	k8s.io/kubernetes v1.36.3
	github.com/x/y v1.2.3
	k8s.io/api v0.36.3
)

replace (
	k8s.io/api => k8s.io/api v0.36.3
)
`},
		{"without", "", `module refit.testbed/kubernetes

go 1.26.0

require (
	k8s.io/kubernetes v1.36.3
	github.com/x/y v1.2.3
	k8s.io/api v0.0.0
)
`},
	}
	for _, c := range cases {
		if got := moduleText("kubernetes", theirs, c.staging, upstream); got != c.want {
			t.Errorf("%s:\n%s\nwant:\n%s", c.situation, got, c.want)
		}
	}
}

func TestBinariesAreNamedAsByGo(t *testing.T) {
	cases := map[goCommand]string{
		{pkg: "k8s.io/kubernetes/cmd/kubelet"}:         "kubelet",
		{pkg: "go.etcd.io/etcd/etcdctl/v3"}:            "etcdctl",
		{pkg: "go.etcd.io/etcd/server/v3", as: "etcd"}: "etcd",
	}
	for command, want := range cases {
		if got := command.file(); got != want {
			t.Errorf("%s: %s, want %s", command.pkg, got, want)
		}
	}
}
