package observe

import (
	"context"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	leasesPerPage = 500
	// leaseSlack tolerates a difference between the clocks of the holder and of the API server.
	leaseSlack = 15 * time.Second
)

// lease are the used fields of a Lease.
type lease struct {
	holder string
	held   bool // it is being renewed
}

// readLeases reads the Leases of kube-system, which controllers use for leader election.
func (obs *observation) readLeases(ctx context.Context) error {
	return pages(ctx, listIn("leases.coordination.k8s.io", kubeSystem), metav1.ListOptions{Limit: leasesPerPage},
		obs.client.CoordinationV1().Leases(kubeSystem).List, func(page *coordinationv1.LeaseList) error {
			for i := range page.Items {
				obs.leases[page.Items[i].Name] = leaseOf(&page.Items[i].Spec, obs.meter.now())
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
