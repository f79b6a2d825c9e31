//go:build e2e

package components

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

const refitComponents = "refit-components"

// killLeaderAt kills the refit-components that leads, once a step of a component runs, and returns
// when another one leads.
func (s *site) killLeaderAt(t *testing.T, component, step string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), whole)
	defer cancel()
	must(t, bed.Follow(ctx, s.Bed, bed.ComponentUpgrades, component, func(u *refitv1alpha1.ComponentUpgrade) bool {
		return u.Status.Step == step && u.Status.Phase == refitv1alpha1.ComponentApplying
	}))
	leader, err := s.leader(t.Context())
	must(t, err)
	must(t, s.kill(t.Context(), leader))
	killed := time.Now()
	must(t, until(t.Context(), "another refit-components to lead", checkTimeout, func(ctx context.Context) error {
		now, err := s.leader(ctx)
		if err == nil && now == leader {
			err = fmt.Errorf("%s leads", now)
		}
		return err
	}))
	t.Logf("killed %s at %s of %s; another one led after %.1f s", leader, step, component, time.Since(killed).Seconds())
}

// leader returns who holds the Lease of refit-components: the name of a pod, and a suffix.
func (s *site) leader(ctx context.Context) (string, error) {
	ctx, cancel := bed.Soon(ctx)
	defer cancel()
	lease, err := s.Client.CoordinationV1().Leases(refitComponents).Get(ctx, refitComponents, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	if lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" {
		return "", errors.New("nobody leads")
	}
	return *lease.Spec.HolderIdentity, nil
}

// kill kills the process of a leader on its host, so that it cannot release the Lease.
func (s *site) kill(ctx context.Context, leader string) error {
	for _, n := range s.OfRole(cluster.RoleControlPlane) {
		out, err := n.Exec(ctx, "pidof", refitComponents)
		if err != nil {
			continue // none on this node
		}
		for pid := range strings.FieldsSeq(string(out)) {
			environ, err := bed.ReadOn(ctx, n, "/proc/"+pid+"/environ")
			if err != nil {
				continue // the process has just ended
			}
			for variable := range strings.SplitSeq(environ, "\x00") {
				if pod, is := strings.CutPrefix(variable, "HOSTNAME="); is && strings.HasPrefix(leader, pod+"_") {
					_, err := n.Exec(ctx, "kill", "-KILL", pid)
					return err
				}
			}
		}
	}
	return fmt.Errorf("the leader %s does not run", leader)
}
