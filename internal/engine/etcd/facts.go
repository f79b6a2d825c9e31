package etcd

import (
	"context"
	"slices"

	clientv3 "go.etcd.io/etcd/client/v3"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// The bounds of a NodeReport.
const (
	maxMembers = 16
	maxAlarms  = 4
	maxAlarm   = 32
)

// Facts is what a NodeReport says of the member on this host. It also answers where the quorum is lost: the member is then not healthy.
func (c *Client) Facts(ctx context.Context) (*refitv1alpha1.EtcdFacts, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*c.patience)
	defer cancel()
	local, err := c.Local(ctx)
	if err != nil {
		return nil, err
	}
	facts := &refitv1alpha1.EtcdFacts{
		Name: local.called(), ID: local.HexID(), Version: local.Version, Leader: local.Leader, Learner: local.Learner,
		DBSizeMiB: local.DBSize >> 20, QuotaMiB: local.Quota >> 20,
	}
	members, _ := list(ctx, c.local, clientv3.WithSerializable()) // a learner does not tell
	for _, m := range members {
		facts.Members = append(facts.Members, m.called())
	}
	slices.Sort(facts.Members)
	facts.Members = facts.Members[:min(len(facts.Members), maxMembers)]

	quickly, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	facts.Healthy = readByQuorum(quickly, c.local) == nil
	if facts.Healthy {
		if raised, err := alarms(quickly, c.local, members); err == nil {
			for _, alarm := range raised[:min(len(raised), maxAlarms)] {
				facts.Alarms = append(facts.Alarms, refitv1alpha1.Clip(alarm, maxAlarm))
			}
		}
	}
	return facts, nil
}
