package etcd

import (
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// external returns the configuration of an API server that has these members as endpoints.
func (s *servers) external(members ...int) Config {
	config := s.config(members[0])
	config.Endpoints = nil
	for _, i := range members {
		config.Endpoints = append(config.Endpoints, s.members[i].client)
	}
	return config
}

// healthyOf returns the names of the healthy members.
func healthyOf(facts *refitv1alpha1.ExternalEtcdFacts) []string {
	var names []string
	for _, m := range facts.Members {
		if m.Healthy {
			names = append(names, m.Name)
		}
	}
	return names
}

// balance returns the endpoint of a load balancer that connects to each member in turn.
func (s *servers) balance() string {
	s.t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(s.t.Context(), "tcp", "127.0.0.1:0")
	must(s.t, err)
	s.t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for i := 0; ; i++ {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			member, err := (&net.Dialer{}).DialContext(s.t.Context(), "tcp", strings.TrimPrefix(s.members[i%len(s.members)].client, "https://"))
			if err != nil {
				_ = client.Close()
				continue
			}
			forward := func(to, from net.Conn) {
				_, _ = io.Copy(to, from) // until one of them ends
				_ = to.Close()
			}
			go forward(client, member)
			go forward(member, client)
		}
	}()
	return "https://" + listener.Addr().String()
}

func TestExternalEtcdWithThreeMembers(t *testing.T) {
	t.Parallel()
	s := start(t, "3.6.8", 3)
	for situation, endpoints := range map[string][]int{
		"every member is an endpoint": {0, 1, 2},
		"one member is an endpoint":   {1},
	} {
		facts, err := ExternalFacts(t.Context(), s.external(endpoints...))
		must(t, err)
		leaders := 0
		for _, m := range facts.Members {
			if m.Version != "3.6.8" || m.ID == "" || m.Learner || m.Problem != "" {
				t.Errorf("%s: the member is %+v", situation, m)
			}
			if m.Leader {
				leaders++
			}
		}
		if !slices.Equal(healthyOf(facts), []string{"m1", "m2", "m3"}) || leaders != 1 || facts.ClusterID == "" || facts.QuotaMiB == 0 || facts.Alarms != nil {
			t.Errorf("%s: the facts are %+v", situation, facts)
		}
	}

	t.Run("the endpoint is a load balancer", func(t *testing.T) {
		config := s.external(0)
		config.Endpoints = []string{s.balance()}
		for range 3 {
			facts, err := ExternalFacts(t.Context(), config)
			must(t, err)
			if !slices.Equal(healthyOf(facts), []string{"m1", "m2", "m3"}) {
				t.Errorf("the facts are %+v", facts)
			}
		}
	})
	t.Run("a backup is taken from a follower", func(t *testing.T) {
		client, err := DialFollower(t.Context(), s.external(s.leader()))
		must(t, err)
		defer client.Close()
		if facts, err := client.Facts(t.Context()); err != nil || !facts.Healthy || facts.Leader || len(facts.Members) != 3 {
			t.Errorf("the facts are %+v (%v)", facts, err)
		}
	})
	t.Run("a lost member is unhealthy and the first", func(t *testing.T) {
		s.kill(2)
		eventually(t, "m1 and m2 are healthy", func() bool {
			facts, err := ExternalFacts(t.Context(), s.external(0, 1, 2))
			must(t, err)
			lost := facts.Members[0]
			if lost.Name != "m3" || lost.Healthy || lost.Problem == "" || lost.Version != "" {
				t.Fatalf("the first member is %+v", lost)
			}
			return slices.Equal(healthyOf(facts), []string{"m1", "m2"}) && strings.HasSuffix(lost.Problem, "connection refused")
		})
		client, err := DialFollower(t.Context(), s.external(2, s.leader()))
		must(t, err)
		must(t, client.Close())
	})
	t.Run("no member is healthy without a quorum", func(t *testing.T) {
		s.kill(1)
		eventually(t, "m1 has no leader", func() bool {
			facts, err := ExternalFacts(t.Context(), s.external(0, 1, 2))
			return err == nil && len(facts.Members) == 3 && healthyOf(facts) == nil
		})
		if client, err := DialFollower(t.Context(), s.external(0, 1, 2)); err == nil {
			t.Error("a backup is taken from a member without a quorum")
			must(t, client.Close())
		}
	})
	t.Run("no member answers", func(t *testing.T) {
		s.kill(0)
		if facts, err := ExternalFacts(within(t, 10*time.Second), s.external(0, 1, 2)); err == nil || !strings.Contains(err.Error(), s.members[1].client) {
			t.Errorf("the facts are %+v (%v)", facts, err)
		}
	})
}

func TestExternalEtcdWithOneMember(t *testing.T) {
	t.Parallel()
	s := start(t, "3.6.8", 1, "--quota-backend-bytes=1048576")
	client, err := DialFollower(t.Context(), s.external(0))
	must(t, err)
	defer client.Close()
	if facts, err := client.Facts(t.Context()); err != nil || !facts.Healthy || !facts.Leader {
		t.Errorf("the facts are %+v (%v)", facts, err)
	}
	for range 20 { // until the database is full
		if _, err = client.local.Put(t.Context(), "key", strings.Repeat("x", 200<<10)); err != nil {
			break
		}
	}
	facts, err := ExternalFacts(t.Context(), s.external(0))
	must(t, err)
	if !slices.Equal(facts.Alarms, []string{"NOSPACE of m1"}) || facts.Members[0].Healthy {
		t.Errorf("the facts of a full database are %+v", facts)
	}
}

func TestEndpointsOfTwoClustersAreRefused(t *testing.T) {
	t.Parallel()
	s := start(t, "3.6.8", 1)
	other := &servers{t: t, dir: s.dir}
	other.members = []*server{other.reserve("other")}
	t.Cleanup(other.stop)
	other.run(other.members[0], etcdBinary(t, "3.6.8"))
	other.waitReady(0)
	config := s.external(0)
	config.Endpoints = append(config.Endpoints, other.members[0].client)
	if facts, err := ExternalFacts(t.Context(), config); err == nil || !strings.Contains(err.Error(), "different clusters") {
		t.Errorf("the facts are %+v (%v)", facts, err)
	}
}

// apiServerOf returns a static pod of an API server with these flags.
func apiServerOf(flags ...string) []byte {
	return []byte(`apiVersion: v1
kind: Pod
metadata: {name: kube-apiserver, namespace: kube-system}
spec:
  containers:
  - name: kube-apiserver
    command:
    - kube-apiserver
    - ` + strings.Join(flags, "\n    - ") + `
    volumeMounts:
    - {mountPath: /etc/ssl/etcd/ssl, name: etcd-certs-0}
  volumes:
  - {name: etcd-certs-0, hostPath: {path: /srv/etcd}}
`)
}

func TestExternalConfigFromManifest(t *testing.T) {
	files := []string{"--etcd-cafile=/etc/ssl/etcd/ssl/ca.pem", "--etcd-certfile=/etc/ssl/etcd/ssl/node.pem", "--etcd-keyfile=/etc/ssl/etcd/ssl/node-key.pem"}
	for situation, tt := range map[string]struct {
		flags     []string
		endpoints []string
		problem   string
	}{
		"as kubespray configures it": {append(files, "--etcd-servers=https://10.0.0.1:2379,https://10.0.0.2:2379"), []string{"https://10.0.0.1:2379", "https://10.0.0.2:2379"}, ""},
		"without a certificate":      {[]string{"--etcd-servers=https://10.0.0.1:2379"}, nil, "certificate"},
		"without TLS":                {[]string{"--etcd-servers=http://127.0.0.1:2379"}, []string{"http://127.0.0.1:2379"}, ""},
		"not a URL":                  {append(files, "--etcd-servers=10.0.0.1"), nil, "not a client URL"},
		"without endpoints":          {files, nil, "etcd-servers"},
	} {
		config, err := ExternalConfigFromManifest(apiServerOf(tt.flags...))
		if tt.problem != "" {
			if err == nil || !strings.Contains(err.Error(), tt.problem) {
				t.Errorf("%s: the error is %v", situation, err)
			}
			continue
		}
		if err != nil || !slices.Equal(config.Endpoints, tt.endpoints) {
			t.Errorf("%s: got %+v (%v)", situation, config, err)
		}
		if config.CA != "" && (config.CA != "/srv/etcd/ca.pem" || config.Cert != "/srv/etcd/node.pem" || config.Key != "/srv/etcd/node-key.pem") {
			t.Errorf("%s: got %+v", situation, config)
		}
		if local := config.OnLoopback(); local != (config.CA == "") {
			t.Errorf("%s: on loopback: %t", situation, local)
		}
	}
}
