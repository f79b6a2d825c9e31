package etcd

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Member is one member of etcd. Fields that only the member itself can report are empty if it was
// not queried.
type Member struct {
	Name       string
	ID         uint64
	Learner    bool
	PeerURLs   []string
	ClientURLs []string

	Version   string
	ClusterID uint64
	// ClusterVersion is the version that all members have in common, such as 3.6.0, or empty if it
	// cannot be read.
	ClusterVersion string
	Leader         bool
	LeaderID       uint64 // 0: no leader
	DBSize, Quota  int64
	RaftIndex      uint64
	AppliedIndex   uint64
	RaftTerm       uint64
	Errors         []string
}

// HexID returns the member's id as etcdctl prints it.
func (m Member) HexID() string { return strconv.FormatUint(m.ID, 16) }

func (m Member) label() string {
	if m.Name == "" {
		return m.HexID() // it was added and never started
	}
	return m.Name
}

// Local returns the member on this host, as it reports itself. It needs no quorum. A learner does
// not report its name.
func (c *Client) Local(ctx context.Context) (Member, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	member, err := status(ctx, c.local)
	if err != nil {
		return Member{}, err
	}
	// A learner refuses to list members.
	if known, err := list(ctx, c.local, clientv3.WithSerializable()); err == nil {
		for _, m := range known {
			if m.ID == member.ID {
				member.Name, member.ClientURLs = m.Name, m.ClientURLs
			}
		}
	}
	member.ClusterVersion = c.clusterVersion(ctx)
	return member, nil
}

// Members returns all members, read with the quorum.
func (c *Client) Members(ctx context.Context) ([]Member, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	return list(ctx, c.local)
}

func status(ctx context.Context, client *clientv3.Client) (Member, error) {
	found, err := client.Status(ctx, client.Endpoints()[0])
	if err != nil {
		return Member{}, fmt.Errorf("cannot get the status of etcd: %w", err)
	}
	id := found.Header.GetMemberId()
	return Member{
		ID: id, ClusterID: found.Header.GetClusterId(), Learner: found.IsLearner,
		Version: found.Version, Leader: found.Leader == id && id != 0, LeaderID: found.Leader,
		DBSize: found.DbSize, Quota: found.DbSizeQuota,
		RaftIndex: found.RaftIndex, AppliedIndex: found.RaftAppliedIndex, RaftTerm: found.RaftTerm, Errors: found.Errors,
	}, nil
}

func list(ctx context.Context, client *clientv3.Client, how ...clientv3.OpOption) ([]Member, error) {
	found, err := client.MemberList(ctx, how...)
	if err != nil {
		return nil, fmt.Errorf("cannot list the members of etcd: %w", err)
	}
	var members []Member
	for _, m := range found.Members {
		members = append(members, Member{Name: m.Name, ID: m.ID, Learner: m.IsLearner, PeerURLs: m.PeerURLs, ClientURLs: m.ClientURLs})
	}
	return members, nil
}

// clusterVersion uses HTTP: no RPC returns it.
func (c *Client) clusterVersion(ctx context.Context) string {
	url := c.config.HTTP
	if url == "" {
		url = c.config.Endpoints[0]
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/version", http.NoBody)
	if err != nil {
		return ""
	}
	transport := &http.Transport{TLSClientConfig: c.tls, DisableKeepAlives: true}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return ""
	}
	defer response.Body.Close()
	var versions struct {
		Cluster string `json:"etcdcluster"`
	}
	if response.StatusCode != http.StatusOK || json.NewDecoder(io.LimitReader(response.Body, 4096)).Decode(&versions) != nil {
		return ""
	}
	if versions.Cluster == "not_decided" {
		return ""
	}
	return versions.Cluster
}
