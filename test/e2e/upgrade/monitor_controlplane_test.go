//go:build e2e

package upgrade

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/refit-dev/refit/test/testbed/cluster"
)

// watchEtcd asks every member for its metrics, each at its own host: who does not answer is away, and one of them is the leader. With one or two members
// there is no quorum to keep while one of them is swapped.
func (m *monitor) watchEtcd(ctx context.Context) {
	members := m.s.OfRole(cluster.RoleControlPlane)
	if len(members) < 3 {
		return
	}
	clients := map[string]*http.Client{}
	for _, n := range members {
		clients[n.Name()] = &http.Client{Transport: &http.Transport{DialContext: n.Dial}, Timeout: 2 * time.Second}
	}
	every(ctx, 250*time.Millisecond, func(ctx context.Context) {
		var away []string
		leader := ""
		var mu sync.Mutex
		var group sync.WaitGroup
		for name, client := range clients {
			group.Go(func() {
				text, err := get(ctx, client, "http://127.0.0.1:2381/metrics")
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					away = append(away, name)
				} else if strings.Contains(string(text), "\netcd_server_is_leader 1\n") {
					leader = name
				}
			})
		}
		group.Wait()
		if leader != "" && m.leader != "" && leader != m.leader {
			m.leaderChanges++
		}
		m.leader = cmp.Or(leader, m.leader)
		switch {
		case ctx.Err() != nil:
		case len(away) > (len(members)-1)/2:
			m.look(quorum, "%s do not answer", strings.Join(away, ", "))
		default:
			m.look(quorum, "")
		}
	})
}

// servers are the minor versions of the API servers by their nodes, as each of them said last.
type servers struct {
	mu     sync.Mutex
	minors map[string]int
}

func (s *servers) all() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.minors)
}

func (s *servers) set(node string, minor int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.minors == nil {
		s.minors = map[string]int{}
	}
	s.minors[node] = minor
}

// watchServers asks every API server for its version, each at its own address. Two of them may be one minor version apart.
func (m *monitor) watchServers(ctx context.Context) {
	config, err := m.s.RESTConfig()
	if err != nil {
		m.look(skew, "the API servers cannot be asked: %v", err)
		return
	}
	config.Timeout = 2 * time.Second
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		m.look(skew, "the API servers cannot be asked: %v", err)
		return
	}
	every(ctx, 500*time.Millisecond, func(ctx context.Context) {
		lowest, highest := 1<<30, 0
		for _, n := range m.s.OfRole(cluster.RoleControlPlane) {
			text, err := get(ctx, client, "https://"+n.Address().String()+":6443/version")
			var version struct {
				GitVersion string `json:"gitVersion"`
			}
			if err == nil && json.Unmarshal(text, &version) == nil {
				m.servers.set(n.Name(), minor(version.GitVersion))
			}
		}
		for _, minor := range m.servers.all() {
			lowest, highest = min(lowest, minor), max(highest, minor)
		}
		if highest-lowest > 1 && highest > 0 {
			m.look(skew, "the API servers are of %v", m.servers.all())
		}
	})
}

// get reads an answer that must be 200.
func get(ctx context.Context, client *http.Client, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, errors.New(response.Status)
	}
	return io.ReadAll(response.Body)
}
