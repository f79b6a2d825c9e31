package observe

import (
	"context"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	leasesPerPage = 500
	// leaseSlack is how much older than its duration a Lease may look: the clocks of its holder and of the API server differ a little.
	leaseSlack = 15 * time.Second
)

// lease is a Lease as far as it is read.
type lease struct {
	holder string
	held   bool // somebody renews it
}

// readLeases reads the Leases of kube-system, with which controllers agree on a leader.
func (g *gathering) readLeases(ctx context.Context) error {
	return pages(ctx, listIn("leases.coordination.k8s.io", kubeSystem), metav1.ListOptions{Limit: leasesPerPage},
		g.client.CoordinationV1().Leases(kubeSystem).List, func(page *coordinationv1.LeaseList) error {
			for i := range page.Items {
				g.leases[page.Items[i].Name] = leaseOf(&page.Items[i].Spec, g.meter.now())
			}
			return nil
		})
}

func leaseOf(spec *coordinationv1.LeaseSpec, now time.Time) lease {
	var out lease
	if spec.HolderIdentity != nil {
		out.holder = *spec.HolderIdentity
	}
	if out.holder != "" && spec.RenewTime != nil && spec.LeaseDurationSeconds != nil {
		ends := spec.RenewTime.Add(time.Duration(*spec.LeaseDurationSeconds)*time.Second + leaseSlack)
		out.held = now.Before(ends)
	}
	return out
}
