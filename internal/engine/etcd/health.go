package etcd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

const (
	unhealthy       = "EtcdMemberUnhealthy"
	unhealthyRemedy = "bring that member back first: its container's log on its host says why (crictl logs), then it goes on by itself"
)

// OthersHealthy asks every other member at its own address. The one on this host may only be touched if each of them answers a read that needs the
// quorum, none is a learner and none raises an alarm; else the failure names the member.
func (c *Client) OthersHealthy(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*c.patience)
	defer cancel()
	local, err := status(ctx, c.local)
	if err != nil {
		return node.Transient("EtcdAway", err, "look at the log of etcd on this host: crictl logs", "the etcd member on this host does not answer")
	}
	members, err := list(ctx, c.local)
	if err != nil {
		return node.Transient("EtcdNoQuorum", err, "bring the other members back first", "etcd does not tell its members: it has no quorum")
	}
	if err := c.noAlarm(ctx, members); err != nil {
		return node.Transient("EtcdAlarm", err,
			"for NOSPACE: compact and defragment each member, then etcdctl alarm disarm; for CORRUPT: replace that member", "etcd raises an alarm")
	}
	problems := make([]error, len(members))
	var asked sync.WaitGroup
	for i, m := range members {
		if m.ID != local.ID {
			asked.Go(func() { problems[i] = c.healthy(ctx, m) })
		}
	}
	asked.Wait()
	for i, problem := range problems {
		if problem != nil {
			return node.Transient(unhealthy, problem, unhealthyRemedy, "the etcd member %s is not well", members[i].called())
		}
	}
	return nil
}

// healthy asks one member at its own address.
func (c *Client) healthy(ctx context.Context, m Member) error {
	switch {
	case m.Learner:
		return errors.New("it is a learner, which has no vote yet")
	case m.Name == "" || len(m.ClientURLs) == 0:
		return errors.New("it was added, and never started")
	}
	ctx, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	client, err := c.connect(m.ClientURLs)
	if err != nil {
		return err
	}
	defer client.Close()
	now, err := status(ctx, client)
	switch {
	case err != nil:
		return err
	case now.ID != m.ID:
		return fmt.Errorf("another member, %s, answers at its address", now.HexID())
	case now.LeaderID == 0:
		return errors.New("it knows no leader")
	case now.Learner:
		return errors.New("it is a learner, which has no vote yet")
	case len(now.Errors) > 0:
		return fmt.Errorf("it says: %s", strings.Join(now.Errors, "; "))
	}
	return readByQuorum(ctx, client)
}

// readByQuorum reads a key that need not exist, in the way that needs the quorum.
func readByQuorum(ctx context.Context, client *clientv3.Client) error {
	if _, err := client.Get(ctx, proofKey, clientv3.WithCountOnly()); err != nil {
		return fmt.Errorf("reading with the quorum: %w", err)
	}
	return nil
}

func (c *Client) noAlarm(ctx context.Context, members []Member) error {
	raised, err := alarms(ctx, c.local, members)
	if err != nil {
		return err
	}
	if len(raised) > 0 {
		return errors.New(strings.Join(raised, ", "))
	}
	return nil
}

// alarms are the alarms of all members, such as "NOSPACE of cp-1".
func alarms(ctx context.Context, client *clientv3.Client, members []Member) ([]string, error) {
	found, err := client.AlarmList(ctx)
	if err != nil {
		return nil, fmt.Errorf("asking etcd for alarms: %w", err)
	}
	var raised []string
	for _, a := range found.Alarms {
		if a.Alarm == etcdserverpb.AlarmType_NONE {
			continue
		}
		of := Member{ID: a.MemberID}
		if at := slices.IndexFunc(members, func(m Member) bool { return m.ID == a.MemberID }); at >= 0 {
			of = members[at]
		}
		raised = append(raised, a.Alarm.String()+" of "+of.called())
	}
	slices.Sort(raised)
	return raised, nil
}
