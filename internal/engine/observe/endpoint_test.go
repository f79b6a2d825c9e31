package observe

import (
	"net/url"
	"testing"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

func TestEndpointAddress(t *testing.T) {
	for name, test := range map[string]struct{ host, kubeadm, want string }{
		"a kubeconfig with a port":                      {"https://10.0.0.1:6443", "", "10.0.0.1:6443"},
		"a kubeconfig without a port":                   {"https://10.0.0.1", "", "10.0.0.1:443"},
		"a kubeconfig without a port and TLS":           {"http://10.0.0.1", "", "10.0.0.1:80"},
		"a kubeconfig with an IPv6 address":             {"https://[fd00::1]", "", "[fd00::1]:443"},
		"a kubeconfig with an IPv6 address and a port":  {"https://[fd00::1]:6443", "", "[fd00::1]:6443"},
		"kubeadm without a port":                        {"https://10.0.0.1", "10.0.0.100", "10.0.0.100:6443"},
		"kubeadm with an IPv6 address":                  {"https://10.0.0.1", "[fd00::64]", "[fd00::64]:6443"},
		"kubeadm with an IPv6 address without brackets": {"https://10.0.0.1", "fd00::64", "[fd00::64]:6443"},
	} {
		t.Run(name, func(t *testing.T) {
			host, err := url.Parse(test.host)
			if err != nil {
				t.Fatal(err)
			}
			obs := newObservation(&Reader{host: host}, "", &meter{})
			if test.kubeadm != "" {
				obs.snapshot.Kubeadm = &cluster.Kubeadm{Endpoint: test.kubeadm}
			}
			if err := obs.readEndpoint(t.Context()); err != nil || obs.snapshot.Endpoint.Address != test.want {
				t.Errorf("it is at %q, want %q (%v)", obs.snapshot.Endpoint.Address, test.want, err)
			}
		})
	}
}

func TestUnresolvableEndpointIsUnreachable(t *testing.T) {
	obs := newObservation(&Reader{host: &url.URL{Scheme: "https", Host: "api.invalid"}}, "", &meter{})
	err := obs.run(t.Context(), reader{cluster.PartEndpoint, "holder of the API endpoint", (*observation).readEndpoint})
	if gap, found := obs.snapshot.Gap(cluster.PartEndpoint); err != nil || !found || gap.Kind != cluster.GapUnreachable {
		t.Errorf("the gaps are %+v (%v)", obs.snapshot.Gaps, err)
	}
}
