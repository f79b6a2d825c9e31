//go:build e2e

package hosts

import (
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// TestHostsCI is the gate for every change: on one node, whose API endpoint is an address of
// keepalived, the agent reports the address, and preflight finds nothing wrong with the endpoint.
func TestHostsCI(t *testing.T) {
	started := time.Now()
	s := bed.NewSite(t, cluster.Spec{Name: "hostsci", Kubernetes: bed.Older, VIP: cluster.VIPKeepalived}, true)
	s.Install(t)
	s.CreateRelease(t, bed.Newer)
	want := refitv1alpha1.VirtualIPFacts{Address: address(t, s).String(), Software: refitv1alpha1.Keepalived, HealthCheck: new(true)}
	report := reportOf(t, s, s.First(cluster.RoleControlPlane))
	if got := report.VirtualIPs; !reflect.DeepEqual(got, []refitv1alpha1.VirtualIPFacts{want}) {
		t.Errorf("the agent reports the virtual IPs %+v, want %+v", got, want)
	}
	if !slices.Contains(report.Addresses, want.Address) {
		t.Errorf("the agent reports the addresses %q without %s", report.Addresses, want.Address)
	}
	found := check(t, s)
	for _, id := range []string{"EndpointUnreachable", "EndpointHeldTwice", "VirtualIPUnchecked"} {
		if strings.Contains(found, id) {
			t.Errorf("preflight reports %s", id)
		}
	}
	bed.Show(t, "hosts_ci", time.Since(started).Seconds(), "s")
}

// address returns the virtual IP of a cluster.
func address(t *testing.T, s *bed.Site) netip.Addr {
	t.Helper()
	endpoint, err := netip.ParseAddrPort(s.Endpoint())
	bed.Must(t, err)
	return endpoint.Addr()
}
