package observe

import (
	"maps"
	"reflect"
	"testing"

	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
)

func TestFlagsOf(t *testing.T) {
	for name, test := range map[string]struct {
		command []string
		want    map[string]string
	}{
		"a value that is used":                  {[]string{"kube-apiserver", "--feature-gates=A=true,B=false"}, map[string]string{"feature-gates": "A=true,B=false"}},
		"a value that may be secret":            {[]string{"kube-apiserver", "--token-auth-file=/sesame"}, map[string]string{"token-auth-file": ""}},
		"a value in a separate word":            {[]string{"kube-apiserver", "--advertise-address", "10.0.0.1", "--v=2"}, map[string]string{"advertise-address": "10.0.0.1", "v": ""}},
		"a secret in a separate word":           {[]string{"kube-apiserver", "--oidc-client-id", "sesame"}, map[string]string{"oidc-client-id": ""}},
		"a secret that begins with a dash":      {[]string{"kube-apiserver", "--oidc-client-id", "-sesame"}, map[string]string{"oidc-client-id": ""}},
		"a flag without a value at the end":     {[]string{"kube-scheduler", "--leader-elect"}, map[string]string{"leader-elect": ""}},
		"a flag without a value before another": {[]string{"kube-scheduler", "--leader-elect", "--v=2"}, map[string]string{"leader-elect": "", "v": ""}},
		"a list that occurs twice":              {[]string{"--feature-gates=A=true", "--feature-gates=B=true"}, map[string]string{"feature-gates": "A=true,B=true"}},
		"a value that occurs twice":             {[]string{"--secure-port=6443", "--secure-port=6444"}, map[string]string{"secure-port": "6444"}},
		"words that are not flags":              {[]string{"sh", "-c", "exec kube-apiserver", "--"}, map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := flagsOf(test.command); !reflect.DeepEqual(got, test.want) {
				t.Errorf("the flags of %q are %v, want %v", test.command, got, test.want)
			}
		})
	}
}

// Other tests use simulated clusters, which must resemble real ones.
func TestSimulatedClusterHasTheFlagsThatAReaderKeeps(t *testing.T) {
	for _, n := range clustertest.HA("v1.35.4", 1, 0).ControlPlane() {
		for component, pod := range n.Static {
			kept := map[string]string{}
			for name, value := range pod.Flags {
				if keptValues[name] && value == "" {
					t.Errorf("%s: the value of --%s is kept", component, name)
				}
				keep(kept, name, value)
			}
			if !maps.Equal(kept, pod.Flags) {
				t.Errorf("%s: the flags are %v, a reader would keep %v", component, pod.Flags, kept)
			}
		}
	}
}
