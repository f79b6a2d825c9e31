package etcd

import (
	"context"
	"slices"

	clientv3 "go.etcd.io/etcd/client/v3"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// The limits of a NodeReport.
const (
	maxMembers = 16
	maxAlarms  = 4
	maxAlarm   = 32
)

// Facts returns the facts of a NodeReport about the member on this host. It also works without a
// quorum: the member is then unhealthy.
func (c *Client) Facts(ctx context.Context) (*refitv1alpha1.EtcdFacts, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*c.timeout)
	defer cancel()
	local, err := c.Local(ctx)
	if err != nil {
		return nil, err
	}
	facts := &refitv1alpha1.EtcdFacts{
		Name: local.label(), ID: local.HexID(), Version: local.Version, Leader: local.Leader, Learner: local.Learner,
		DBSizeMiB: local.DBSize >> 20, QuotaMiB: local.Quota >> 20,
	}
	members, _ := list(ctx, c.local, clientv3.WithSerializable()) // a learner refuses
	for _, m := range members {
		facts.Members = append(facts.Members, m.label())
	}
	slices.Sort(facts.Members)
	facts.Members = facts.Members[:min(len(facts.Members), maxMembers)]

	bounded, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	facts.Healthy = readByQuorum(bounded, c.local) == nil
	if facts.Healthy {
		if raised, err := alarms(bounded, c.local, members); err == nil {
			for _, alarm := range raised[:min(len(raised), maxAlarms)] {
				facts.Alarms = append(facts.Alarms, refitv1alpha1.Clip(alarm, maxAlarm))
			}
		}
	}
	return facts, nil
}
