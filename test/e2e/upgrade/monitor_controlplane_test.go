//go:build e2e

package upgrade

import (
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

// watchEtcd checks that every member accepts connections on its own host: one whose Pod is down
// does not. Response times depend on the machine, not on the quorum. With one or two members there
// is no quorum to keep while one of them is swapped.
func (m *monitor) watchEtcd(ctx context.Context) {
	members := m.s.OfRole(cluster.RoleControlPlane)
	if len(members) < 3 {
		return
	}
	every(ctx, 250*time.Millisecond, func(ctx context.Context) {
		var away []string
		for _, n := range members {
			asking, stop := soon(ctx)
			connection, err := n.Dial(asking, "tcp", "127.0.0.1:2379")
			stop()
			if err != nil {
				away = append(away, n.Name())
				continue
			}
			_ = connection.Close() // nothing was sent
		}
		switch {
		case ctx.Err() != nil:
		case len(away) > (len(members)-1)/2:
			m.look(quorum, "%s do not answer", strings.Join(away, ", "))
		default:
			m.look(quorum, "")
		}
	})
}

// watchLeader counts the leader changes of etcd.
func (m *monitor) watchLeader(ctx context.Context) {
	clients := map[string]*http.Client{}
	for _, n := range m.s.OfRole(cluster.RoleControlPlane) {
		clients[n.Name()] = &http.Client{Transport: &http.Transport{DialContext: n.Dial}, Timeout: 5 * time.Second}
	}
	leader := ""
	every(ctx, time.Second, func(ctx context.Context) {
		for name, client := range clients {
			text, err := get(ctx, client, "http://127.0.0.1:2381/metrics")
			if err != nil || !strings.Contains(string(text), "\netcd_server_is_leader 1\n") || name == leader {
				continue
			}
			if leader != "" {
				m.leaderChanges++
			}
			leader = name
		}
	})
}

// servers are the minor versions of the API servers by node, as last reported.
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

// watchServers queries the version of every API server at its own address. Two of them may be one
// minor version apart.
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

// get returns the body of a response with status 200.
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
