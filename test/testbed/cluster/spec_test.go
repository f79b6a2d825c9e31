package cluster

import (
	"strings"
	"testing"

	"github.com/refit-dev/refit/test/testbed/builder"
)

func TestInvalidSpecs(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Spec)
		want   string
	}{
		"a name with capitals":         {func(s *Spec) { s.Name = "Demo" }, `name "Demo"`},
		"a name that ends with a dash": {func(s *Spec) { s.Name = "demo-" }, `name "demo-"`},
		"a name like an option":        {func(s *Spec) { s.Name = "--help" }, `name "--help"`},
		"a name with a path":           {func(s *Spec) { s.Name = "../etc" }, `name "../etc"`},
		"a name too long for a node's": {func(s *Spec) { s.Name = strings.Repeat("a", 21) }, "20 at most"},
		"no control plane":             {func(s *Spec) { s.ControlPlanes = -1 }, "at least one control plane"},
		"more nodes than addresses":    {func(s *Spec) { s.Workers = 100 }, "60 nodes at most"},
		"an unsupported version":       {func(s *Spec) { s.Kubernetes = "v1.2.3" }, "supported versions"},
		"an unknown installation":      {func(s *Spec) { s.Install = "snap" }, "want binaries, deb, rpm"},
		"an unknown containerd":        {func(s *Spec) { s.Containerd = "1.7" }, "want debian or " + builder.ContainerdBuilt},
		"a disk too small for a node":  {func(s *Spec) { s.Disk = 1 << 30 }, "at least 3G"},
		"an unknown virtual IP":        {func(s *Spec) { s.VIP = "ucarp" }, "want keepalived or kube-vip"},
		"keepalived without dpkg":      {func(s *Spec) { s.VIP, s.Install = VIPKeepalived, builder.InstallRpm }, "no dpkg"},
		"kube-vip without a check":     {func(s *Spec) { s.VIP, s.VIPUnchecked = VIPKubeVIP, true }, "only keepalived"},
		"a load balancer without one":  {func(s *Spec) { s.VIPUnchecked = true }, "only keepalived"},
		"an unknown etcd":              {func(s *Spec) { s.Etcd = "docker" }, "want external or external-hosts"},
		"hosts beyond the addresses":   {func(s *Spec) { s.Workers, s.Etcd = 58, EtcdExternalHosts }, "60 nodes at most"},
		"an unknown layout":            {func(s *Spec) { s.Layout = "kops" }, "want kubespray"},
		"packages of kubespray":        {func(s *Spec) { s.Layout, s.Install = LayoutKubespray, builder.InstallDeb }, "it has binaries, not deb"},
		"an empty zone":                {func(s *Spec) { s.Zones = []string{"a", ""} }, "zones"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := Spec{Name: "demo", Kubernetes: "v1.35.4"}
			spec.Default()
			if err := spec.Validate(); err != nil {
				t.Fatalf("the spec is invalid before the change: %v", err)
			}
			test.change(&spec)
			if err := spec.Validate(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
}

func TestValidateReturnsAllErrors(t *testing.T) {
	err := (&Spec{Name: "X", ControlPlanes: 1, Kubernetes: "v1.35.4", Install: "snap", Containerd: "0"}).Validate()
	for _, want := range []string{"name", "install", "containerd"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not mention %s", err, want)
		}
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{"6G": 6 << 30, "6g": 6 << 30, "512M": 512 << 20, "4294967296": 4 << 30} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "G", "-1G", "0", "6T", "6 G", "99999999999G"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("ParseSize(%q) = %d, want an error", text, got)
		}
	}
}
