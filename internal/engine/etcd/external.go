package etcd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// The limits of a NodeReport for an external etcd.
const (
	maxExternalMembers = 9
	maxProblem         = 128
)

// ExternalFacts returns the facts of a NodeReport about an external etcd: every member, queried at
// its own address. It works without a quorum. It fails if no endpoint answers.
func ExternalFacts(ctx context.Context, config Config) (*refitv1alpha1.ExternalEtcdFacts, error) {
	c, err := Dial(config)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, 2*c.timeout)
	defer cancel()
	all, err := c.survey(ctx)
	if err != nil {
		return nil, err
	}
	facts := &refitv1alpha1.ExternalEtcdFacts{ClusterID: strconv.FormatUint(all.clusterID, 16)}
	for _, m := range all.members {
		facts.Members = append(facts.Members, m.facts())
		facts.DBSizeMiB = max(facts.DBSizeMiB, m.now.DBSize>>20)
		if quota := m.now.Quota >> 20; quota > 0 && (facts.QuotaMiB == 0 || quota < facts.QuotaMiB) {
			facts.QuotaMiB = quota
		}
	}
	slices.SortFunc(facts.Members, func(a, b refitv1alpha1.ExternalEtcdMember) int {
		switch {
		case a.Healthy == b.Healthy:
			return cmp.Compare(a.Name, b.Name)
		case a.Healthy:
			return 1
		}
		return -1
	})
	facts.Members = facts.Members[:min(len(facts.Members), maxExternalMembers)]
	facts.Alarms = c.externalAlarms(ctx, all)
	return facts, nil
}

// externalAlarms returns the alarms as the first member reports them that has a leader. A member
// with an alarm is unhealthy.
func (c *Client) externalAlarms(ctx context.Context, all *survey) []string {
	at := slices.IndexFunc(all.members, func(m surveyed) bool { return m.now.LeaderID != 0 })
	if at < 0 {
		return nil
	}
	client, err := c.connect(all.members[at].ClientURLs)
	if err != nil {
		return nil
	}
	defer client.Close()
	var members []Member
	for _, m := range all.members {
		members = append(members, m.Member)
	}
	raised, _ := alarms(ctx, client, members) // the members are known without
	var found []string
	for _, alarm := range raised[:min(len(raised), maxAlarms)] {
		found = append(found, refitv1alpha1.Clip(alarm, maxAlarm))
	}
	return found
}

// DialFollower returns a client of a healthy follower of an external etcd, or of its only member.
func DialFollower(ctx context.Context, config Config) (*Client, error) {
	c, err := Dial(config)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, 2*c.timeout)
	defer cancel()
	all, err := c.survey(ctx)
	if err != nil {
		return nil, err
	}
	for _, m := range all.members {
		if m.problem == nil && (!m.now.Leader || len(all.members) == 1) {
			return Dial(config.At(m.ClientURLs))
		}
	}
	return nil, errors.New("no follower of the external etcd is healthy")
}

// survey is what the members of an etcd report, each at its own address.
type survey struct {
	clusterID uint64
	members   []surveyed // by name
}

type surveyed struct {
	Member // as the list of members has it, with the address at which it was queried
	now    Member
	// advertised are its client URLs, if an endpoint is queried instead.
	advertised []string
	// problem is why the member is unhealthy.
	problem error
}

func (m surveyed) facts() refitv1alpha1.ExternalEtcdMember {
	out := refitv1alpha1.ExternalEtcdMember{
		Name: m.label(), ID: m.HexID(), Version: m.now.Version, Healthy: m.problem == nil, Leader: m.now.Leader, Learner: m.Learner || m.now.Learner,
	}
	if m.problem != nil {
		out.Problem = refitv1alpha1.Clip(node.Redact(cause(m.problem)), maxProblem)
	}
	return out
}

// cause returns an error without the layers of gRPC, which are longer than the field of a report.
func cause(err error) string {
	if _, transport, found := strings.Cut(err.Error(), `desc = "transport: `); found {
		return strings.TrimSuffix(transport, `"`)
	}
	return err.Error()
}

// survey queries the endpoints for the members, then every member. A member is queried at the
// endpoint that reaches it, which is what the API server uses, and else at its client URLs. The
// endpoint of a load balancer reaches another member with each connection.
func (c *Client) survey(ctx context.Context) (*survey, error) {
	all, err := c.discover(ctx)
	if err != nil {
		return nil, err
	}
	var requests sync.WaitGroup
	for i := range all.members {
		m := &all.members[i]
		requests.Go(func() {
			m.now, m.problem = c.query(ctx, m.Member)
			if _, other := errors.AsType[*otherMemberError](m.problem); other && m.advertised != nil {
				m.ClientURLs = m.advertised
				m.now, m.problem = c.query(ctx, m.Member)
			}
		})
	}
	requests.Wait()
	return all, nil
}

// discover returns the members and the addresses at which to query them.
func (c *Client) discover(ctx context.Context) (*survey, error) {
	found := make([]probed, len(c.config.Endpoints))
	var requests sync.WaitGroup
	for i, endpoint := range c.config.Endpoints {
		requests.Go(func() { found[i] = c.probe(ctx, endpoint) })
	}
	requests.Wait()
	all, at := &survey{}, map[uint64]string{}
	var problems []error
	for i, a := range found {
		switch endpoint := c.config.Endpoints[i]; {
		case a.err != nil:
			problems = append(problems, fmt.Errorf("%s: %w", endpoint, a.err))
			continue
		case all.clusterID != 0 && a.self.ClusterID != all.clusterID:
			return nil, fmt.Errorf("the endpoints of etcd belong to different clusters: %s to %x, another one to %x", endpoint, a.self.ClusterID, all.clusterID)
		case at[a.self.ID] == "":
			at[a.self.ID] = endpoint
		}
		all.clusterID = a.self.ClusterID
		if len(all.members) == 0 {
			for _, m := range a.members {
				all.members = append(all.members, surveyed{Member: m})
			}
		}
	}
	if len(all.members) == 0 {
		return nil, fmt.Errorf("no endpoint of etcd lists its members: %w", errors.Join(problems...))
	}
	for i := range all.members {
		if m := &all.members[i]; at[m.ID] != "" {
			m.advertised, m.ClientURLs = m.ClientURLs, []string{at[m.ID]}
		}
	}
	slices.SortFunc(all.members, func(a, b surveyed) int { return cmp.Compare(a.label(), b.label()) })
	return all, nil
}

// probed is what the member at an endpoint reports. It needs no quorum.
type probed struct {
	self    Member
	members []Member // empty for a learner, which refuses to list them
	err     error
}

func (c *Client) probe(ctx context.Context, endpoint string) (a probed) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	client, err := c.connect([]string{endpoint})
	if err != nil {
		return probed{err: err}
	}
	defer client.Close()
	if a.self, a.err = status(ctx, client); a.err == nil {
		a.members, _ = list(ctx, client, clientv3.WithSerializable())
	}
	return a
}
