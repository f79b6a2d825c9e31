package observe

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestParseClusterConfiguration(t *testing.T) {
	for name, test := range map[string]struct {
		text     string
		args     map[string]map[string]string
		external bool
	}{
		"arguments as a map (v1beta3)": {
			"apiVersion: kubeadm.k8s.io/v1beta3\napiServer:\n  extraArgs: {feature-gates: A=true, oidc-client-id: sesame}\n",
			map[string]map[string]string{"kube-apiserver": {"feature-gates": "A=true", "oidc-client-id": ""}},
			false,
		},
		"arguments as a list (v1beta4)": {
			"apiVersion: kubeadm.k8s.io/v1beta4\nscheduler:\n  extraArgs:\n  - {name: feature-gates, value: A=true}\n  - {name: feature-gates, value: B=true}\n",
			map[string]map[string]string{"kube-scheduler": {"feature-gates": "A=true,B=true"}},
			false,
		},
		"arguments of a local etcd": {
			"etcd:\n  local:\n    extraArgs:\n    - {name: quota-backend-bytes, value: \"8589934592\"}\n    - {name: initial-cluster-token, value: sesame}\n",
			map[string]map[string]string{"etcd": {"quota-backend-bytes": "8589934592", "initial-cluster-token": ""}},
			false,
		},
		"an external etcd":    {"etcd:\n  external:\n    endpoints: [https://10.0.0.9:2379]\n", map[string]map[string]string{}, true},
		"etcd without fields": {"etcd: {}\n", map[string]map[string]string{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseClusterConfiguration(test.text)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got.ExtraArgs, test.args) || got.ExternalEtcd != test.external {
				t.Errorf("the arguments are %v, external etcd: %t", got.ExtraArgs, got.ExternalEtcd)
			}
		})
	}
}

func TestPinnedImageTags(t *testing.T) {
	for name, test := range map[string]struct{ text, etcd, dns string }{
		"none":    {"etcd:\n  local: {dataDir: /var/lib/etcd}\ndns: {}\n", "", ""},
		"both":    {"etcd:\n  local: {imageTag: 3.5.24-0}\ndns: {imageTag: v1.12.0}\n", "3.5.24-0", "v1.12.0"},
		"no etcd": {"dns: {imageTag: v1.12.0}\n", "", "v1.12.0"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseClusterConfiguration(test.text)
			if err != nil || got.EtcdImageTag != test.etcd || got.DNSImageTag != test.dns {
				t.Errorf("they are %+v (%v)", got, err)
			}
		})
	}
}

func TestInvalidClusterConfigurationIsRefused(t *testing.T) {
	for _, text := range []string{"apiServer: {extraArgs: sesame}", "{", "featureGates: [sesame]"} {
		if got, err := parseClusterConfiguration(text); err == nil || strings.Contains(err.Error(), "sesame") {
			t.Errorf("%q was parsed as %+v (%v)", text, got, err)
		}
	}
}

func TestFieldsOf(t *testing.T) {
	document := map[string]any{
		"a": 1, "b": map[string]any{"c": "x", "d": map[string]any{}}, "e": []any{}, "f": []any{"x", "y"},
		"g": []any{map[string]any{"h": 1}, map[string]any{"h": 2, "i": nil}},
	}
	want := []string{"a", "b.c", "b.d", "e", "f[]", "g[].h", "g[].i"}
	if got := fieldsOf(document); !slices.Equal(got, want) {
		t.Errorf("the fields are %q, want %q", got, want)
	}
	if got := fieldsOf(map[string]any{}); len(got) != 0 {
		t.Errorf("an empty document has the fields %q", got)
	}
}
