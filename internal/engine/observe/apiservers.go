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

	// patience is how long a server may take to tell its version. From a laptop its address may be one that nobody answers at all, so that a
	// longer one is only waited out.
	patience = 2 * time.Second
	// readyPatience is longer: a server that cannot reach its etcd takes seconds to say so.
	readyPatience = 10 * time.Second
)

// readAPIServers asks each API server by itself for its version and health, and for requests for APIs that a release removes. The endpoint would
// answer for whichever server is behind it at the moment.
func (g *gathering) readAPIServers(ctx context.Context) error {
	controlPlane := g.snapshot.ControlPlane()
	if len(controlPlane) == 0 {
		return errors.New("no node has the label " + labelControlPlane + ", so nobody knows where the API servers are; label the control plane nodes")
	}
	servers, refused := make([]cluster.APIServer, len(controlPlane)), make([]bool, len(controlPlane))
	var group errgroup.Group
	group.SetLimit(sideBySide)
	for i, n := range controlPlane {
		group.Go(func() error {
			servers[i], refused[i] = g.askServer(ctx, n, len(controlPlane) == 1)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	judgeRefusals(servers, refused)
	g.snapshot.APIServers = servers
	return nil
}

// judgeRefusals calls a server not ready whose host refused the connection, where another one answered at its own address: then the way is open, and nobody
// listens. Kubernetes itself learns of it a minute later, when the node's word is overdue.
func judgeRefusals(servers []cluster.APIServer, refused []bool) {
	if !slices.ContainsFunc(servers, func(s cluster.APIServer) bool { return s.Via == cluster.ViaAddress }) {
		return
	}
	for i := range servers {
		if refused[i] {
			servers[i].Ready = cluster.No
		}
	}
}

// askServer asks one API server, in the first way that leads to it. It also says whether none did and its host refused the connection.
func (g *gathering) askServer(ctx context.Context, n *cluster.Node, alone bool) (server cluster.APIServer, refused bool) {
	out := cluster.APIServer{Node: n.Name, Address: addressOf(n, g.servers[n.Name].advertised)}
	object := "Node " + n.Name
	failed := []error{}
	for _, w := range g.waysTo(out, alone) {
		said, err := askVersion(ctx, w)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		out.Via, out.Version = w.via, said
		if out.Ready, out.Failing, err = askReady(ctx, w); err != nil {
			g.gap(gapOf(cluster.PartAPIServers, object, err))
		}
		if out.Deprecated, err = askDeprecated(ctx, w); err != nil {
			g.gap(gapOf(cluster.PartDeprecated, object, err))
		} else {
			out.DeprecatedKnown = cluster.Yes
		}
		return out, false
	}
	if len(failed) == 0 {
		failed = append(failed, errNoWay)
	}
	// The first way is the one that a person can do something about: let them reach the address.
	gap := gapOf(cluster.PartAPIServers, object, failed[0])
	for _, other := range failed[1:] {
		gap.Message += "; " + gapOf(cluster.PartAPIServers, object, other).Message
	}
	out.Error = gap.Message
	g.gap(gap)
	gap.Part = cluster.PartDeprecated
	g.gap(gap)
	return out, errors.Is(failed[0], syscall.ECONNREFUSED)
}

// waysTo are the ways to an API server, the best first.
func (g *gathering) waysTo(s cluster.APIServer, alone bool) []way {
	var ways []way
	if g.direct != nil && s.Address != "" {
		ways = append(ways, way{
			via: cluster.ViaAddress, client: g.direct, base: "https://" + s.Address,
			ask: question{"get", "what the API server says", " at " + s.Address},
		})
	}
	endpoint := strings.TrimSuffix(g.host.String(), "/")
	if alone { // there is no other that could answer
		ways = append(ways, way{
			via: cluster.ViaEndpoint, client: g.http, base: endpoint, ask: question{"get", "what the API server says", " at the endpoint"},
		})
	}
	// The other server carries nobody's credentials on: what it is asked for must be open to all, as /version and /readyz are by default.
	pod := cmp.Or(g.servers[s.Node].name, apiServerComponent+"-"+s.Node)
	port := defaultPort
	if _, its, err := net.SplitHostPort(s.Address); err == nil {
		port = its
	}
	return append(ways, way{
		via: cluster.ViaPodProxy, client: g.http,
		base: endpoint + "/api/v1/namespaces/" + kubeSystem + "/pods/https:" + pod + ":" + port + "/proxy",
		ask:  question{"get", "pods/proxy of " + pod, " in namespace " + kubeSystem},
	})
}

// addressOf is where a node's API server listens: what kubeadm wrote down, else what its flags say, else the node's address.
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

func askVersion(ctx context.Context, w way) (string, error) {
	status, body, err := w.get(ctx, "/version", patience)
	if err != nil {
		return "", err
	}
	var said version.Info
	if status != http.StatusOK || json.Unmarshal(body, &said) != nil || said.GitVersion == "" {
		return "", w.refused(status, body)
	}
	return said.GitVersion, nil
}

// askReady asks a server whether it is ready, and which of its checks fail if not.
func askReady(ctx context.Context, w way) (cluster.Answer, []string, error) {
	status, body, err := w.get(ctx, "/readyz?verbose", readyPatience)
	switch {
	case err != nil:
		return cluster.Unknown, nil, err
	case status == http.StatusOK:
		return cluster.Yes, nil, nil
	case status == http.StatusInternalServerError:
		return cluster.No, failingChecks(string(body)), nil
	default:
		return cluster.Unknown, nil, w.refused(status, body)
	}
}

// failingChecks are the names behind "[-]" in what readyz says: "[-]etcd failed: reason withheld".
func failingChecks(verbose string) []string {
	var names []string
	for line := range strings.Lines(verbose) {
		if said, failing := strings.CutPrefix(line, "[-]"); failing {
			name, _, _ := strings.Cut(strings.TrimSpace(said), " ")
			names = append(names, name)
		}
	}
	return names
}
