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
	unreachableRemedy = "Read the log of etcd on this host: `crictl ps -a`, `crictl logs`"
	quorumRemedy      = "Fix the other members first: `etcdctl endpoint health --cluster` shows them"
	unhealthy         = "EtcdMemberUnhealthy"
	unhealthyRemedy   = "Fix that member first: read its log on its host (`crictl logs`); the upgrade then continues automatically"
)

// OthersHealthy queries every other member at its own address. The member on this host may be
// upgraded only if each of them answers a read that needs the quorum, none is a learner and none
// has an alarm. The failure names the member.
func (c *Client) OthersHealthy(ctx context.Context) error { return c.others(ctx, true) }

// OthersServe is OthersHealthy regardless of alarms, which a restart of this member does not make
// worse.
func (c *Client) OthersServe(ctx context.Context) error { return c.others(ctx, false) }

func (c *Client) others(ctx context.Context, withAlarms bool) error {
	ctx, cancel := context.WithTimeout(ctx, 2*c.timeout)
	defer cancel()
	local, err := status(ctx, c.local)
	if err != nil {
		return node.Transient("EtcdUnreachable", err, unreachableRemedy, "the etcd member on this host is unreachable")
	}
	members, err := list(ctx, c.local)
	if err != nil {
		return node.Transient("EtcdNoQuorum", err, quorumRemedy, "cannot list the members of etcd: it has no quorum")
	}
	if err := c.noAlarm(ctx, members); withAlarms && err != nil {
		return node.Transient("EtcdAlarm", err,
			"For NOSPACE, run `etcdctl compact REVISION; etcdctl defrag --cluster; etcdctl alarm disarm`; for CORRUPT, replace that member",
			"etcd has an active alarm")
	}
	problems := make([]error, len(members))
	var requests sync.WaitGroup
	for i, m := range members {
		if m.ID != local.ID {
			requests.Go(func() { problems[i] = c.healthy(ctx, m) })
		}
	}
	requests.Wait()
	for i, problem := range problems {
		if problem != nil {
			return node.Transient(unhealthy, problem, unhealthyRemedy, "the etcd member %s is unhealthy", members[i].label())
		}
	}
	return nil
}

// healthy queries one member at its own address.
func (c *Client) healthy(ctx context.Context, m Member) error {
	_, err := c.query(ctx, m)
	return err
}

// query returns the status of one member at its own address, and why it is unhealthy.
func (c *Client) query(ctx context.Context, m Member) (Member, error) {
	switch {
	case m.Learner:
		return Member{}, errors.New("it is a learner, which has no vote yet")
	case m.Name == "" || len(m.ClientURLs) == 0:
		return Member{}, errors.New("it was added and never started")
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	client, err := c.connect(m.ClientURLs)
	if err != nil {
		return Member{}, err
	}
	defer client.Close()
	now, err := status(ctx, client)
	switch {
	case err != nil:
		return Member{}, err
	case now.ID != m.ID:
		return Member{}, &otherMemberError{id: now.HexID()}
	case now.LeaderID == 0:
		return now, errors.New("it has no leader")
	case now.Learner:
		return now, errors.New("it is a learner, which has no vote yet")
	case len(now.Errors) > 0:
		return now, fmt.Errorf("it reports: %s", strings.Join(now.Errors, "; "))
	}
	return now, readByQuorum(ctx, client)
}

// otherMemberError is an address at which another member answers.
type otherMemberError struct{ id string }

func (e *otherMemberError) Error() string {
	return fmt.Sprintf("another member, %s, answers at its address", e.id)
}

// readByQuorum reads a key that need not exist, with a linearizable read.
func readByQuorum(ctx context.Context, client *clientv3.Client) error {
	if _, err := client.Get(ctx, proofKey, clientv3.WithCountOnly()); err != nil {
		return fmt.Errorf("cannot read with quorum: %w", err)
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

// alarms returns the alarms of all members, such as "NOSPACE of cp-1".
func alarms(ctx context.Context, client *clientv3.Client, members []Member) ([]string, error) {
	found, err := client.AlarmList(ctx)
	if err != nil {
		return nil, fmt.Errorf("cannot list alarms: %w", err)
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
		raised = append(raised, a.Alarm.String()+" of "+of.label())
	}
	slices.Sort(raised)
	return raised, nil
}
