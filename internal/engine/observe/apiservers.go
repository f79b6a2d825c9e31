package observe

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/version"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

const (
	defaultPort = "6443"

	// versionTimeout is short, since the address of a server may be unreachable from a laptop.
	versionTimeout = 2 * time.Second
	// readyTimeout is longer: a server that cannot reach etcd takes seconds to respond.
	readyTimeout = 10 * time.Second
)

// readAPIServers queries every API server at its own address for version, health and deprecated API
// requests. The endpoint would respond for any one of them.
func (obs *observation) readAPIServers(ctx context.Context) error {
	controlPlane := obs.snapshot.ControlPlane()
	if len(controlPlane) == 0 {
		return errors.New("no node has the label " + labelControlPlane + ", so the API servers are unknown; label the control plane nodes")
	}
	servers, refusing := make([]cluster.APIServer, len(controlPlane)), make([]bool, len(controlPlane))
	var group errgroup.Group
	group.SetLimit(maxConcurrentReaders)
	for i, n := range controlPlane {
		group.Go(func() error {
			servers[i], refusing[i] = obs.probeServer(ctx, n, len(controlPlane) == 1)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	markRefusing(servers, refusing)
	obs.snapshot.APIServers = servers
	return nil
}

// markRefusing marks a server as not ready if its host refused the connection while another one
// responded at its own address: then the network is fine and the server is down. Kubernetes detects
// that only a minute later.
func markRefusing(servers []cluster.APIServer, refusing []bool) {
	if !slices.ContainsFunc(servers, func(s cluster.APIServer) bool { return s.Via == cluster.ViaAddress }) {
		return
	}
	for i := range servers {
		if refusing[i] {
			servers[i].Ready = cluster.No
		}
	}
}

// probeServer queries an API server by the first route that works. refusing reports whether none
// works and its host refused the connection.
func (obs *observation) probeServer(ctx context.Context, n *cluster.Node, alone bool) (server cluster.APIServer, refusing bool) {
	out := cluster.APIServer{Node: n.Name, Address: addressOf(n, obs.servers[n.Name].advertised)}
	object := "Node " + n.Name
	failed := []error{}
	for _, w := range obs.routesTo(out, alone) {
		w.clock = &serverClock{}
		info, err := getVersion(ctx, w)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		out.Via, out.Version = w.via, info
		if w.via != cluster.ViaPodProxy { // another server may have set the date
			out.ClockAhead = w.clock.ahead
		}
		if out.Ready, out.Failing, err = getReady(ctx, w); err != nil {
			obs.gap(gapOf(cluster.PartAPIServers, object, err))
		}
		if out.Deprecated, err = getDeprecated(ctx, w); err != nil {
			obs.gap(gapOf(cluster.PartDeprecated, object, err))
		} else {
			out.DeprecatedKnown = cluster.Yes
		}
		return out, false
	}
	if len(failed) == 0 {
		failed = append(failed, errNoRoute)
	}
	// The first route is the one that the user can fix: make the address reachable.
	gap := gapOf(cluster.PartAPIServers, object, failed[0])
	for _, other := range failed[1:] {
		gap.Message += "; " + gapOf(cluster.PartAPIServers, object, other).Message
	}
	out.Error = gap.Message
	obs.gap(gap)
	gap.Part = cluster.PartDeprecated
	obs.gap(gap)
	return out, errors.Is(failed[0], syscall.ECONNREFUSED)
}

// routesTo returns the routes to an API server, the best first.
func (obs *observation) routesTo(s cluster.APIServer, alone bool) []route {
	var routes []route
	if obs.direct != nil && s.Address != "" {
		routes = append(routes, route{
			via: cluster.ViaAddress, client: obs.direct, base: "https://" + s.Address,
			request: apiRequest{"get", "version and health of the API server", " at " + s.Address},
		})
	}
	endpoint := strings.TrimSuffix(obs.host.String(), "/")
	if alone { // no other server could respond
		routes = append(routes, route{
			via: cluster.ViaEndpoint, client: obs.http, base: endpoint, request: apiRequest{"get", "version and health of the API server", " at the endpoint"},
		})
	}
	// The proxy does not forward credentials, so the paths must be public, as /version and /readyz
	// are by default.
	pod := cmp.Or(obs.servers[s.Node].name, apiServerComponent+"-"+s.Node)
	port := defaultPort
	if _, its, err := net.SplitHostPort(s.Address); err == nil {
		port = its
	}
	return append(routes, route{
		via: cluster.ViaPodProxy, client: obs.http,
		base:    endpoint + "/api/v1/namespaces/" + kubeSystem + "/pods/https:" + pod + ":" + port + "/proxy",
		request: apiRequest{"get", "pods/proxy of " + pod, " in namespace " + kubeSystem},
	})
}

// addressOf returns the address of a node's API server: from the annotation of kubeadm, else from
// its flags, else that of the node.
func addressOf(n *cluster.Node, advertised string) string {
	if advertised != "" {
		return advertised
	}
	flags := n.Static[apiServerComponent].Flags
	host := flags["advertise-address"]
	if host == "" && len(n.Addresses) > 0 {
		host = n.Addresses[0]
	}
	if host == "" {
		return ""
	}
	return net.JoinHostPort(host, cmp.Or(flags["secure-port"], defaultPort))
}

func getVersion(ctx context.Context, w route) (string, error) {
	status, body, err := w.get(ctx, "/version", versionTimeout)
	if err != nil {
		return "", err
	}
	var info version.Info
	if status != http.StatusOK || json.Unmarshal(body, &info) != nil || info.GitVersion == "" {
		return "", w.statusError(status, body)
	}
	return info.GitVersion, nil
}

// getReady returns whether a server is ready, and its failing checks.
func getReady(ctx context.Context, w route) (cluster.Answer, []string, error) {
	status, body, err := w.get(ctx, "/readyz?verbose", readyTimeout)
	switch {
	case err != nil:
		return cluster.Unknown, nil, err
	case status == http.StatusOK:
		return cluster.Yes, nil, nil
	case status == http.StatusInternalServerError:
		return cluster.No, failingChecks(string(body)), nil
	default:
		return cluster.Unknown, nil, w.statusError(status, body)
	}
}

// failingChecks returns the names after "[-]" in the output of readyz: "[-]etcd failed: reason
// withheld".
func failingChecks(verbose string) []string {
	var names []string
	for line := range strings.Lines(verbose) {
		if info, failing := strings.CutPrefix(line, "[-]"); failing {
			name, _, _ := strings.Cut(strings.TrimSpace(info), " ")
			names = append(names, name)
		}
	}
	return names
}
