//go:build apiserver

package observe

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/refit-dev/refit/internal/engine/observe"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/test/apiserver"
)

const checkTimeout = time.Minute

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestSnapshotOfAWorld(t *testing.T) {
	apiserver.EachVersion(t, func(t *testing.T, version string) {
		s := apiserver.Start(t, apiserver.Options{Version: version, Audit: true})
		impostor := listenAsAPIServer(t)
		world(t, s, impostor.address)

		const user = "engineer"
		var told []string
		reader, err := observe.New(s.As(t, user, "system:masters"), observe.Options{Progress: func(what string) { told = append(told, what) }})
		must(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), checkTimeout)
		defer cancel()
		got, err := reader.Snapshot(ctx, "mine")
		must(t, err)

		t.Run("cost", func(t *testing.T) {
			const refused = 1 // the one to cp-2's own address, which fails at its certificate
			if asked := s.AuditOf(t, user); got.Cost.Requests != len(asked)+refused {
				t.Errorf("it counted %d requests, the server %d:\n%v", got.Cost.Requests, len(asked), asked)
			}
			if got.Cost.Bytes == 0 || got.Cost.Pods != 11 || got.Cost.Took <= 0 || got.TakenAt.IsZero() {
				t.Errorf("its cost is %+v, taken at %s", got.Cost, got.TakenAt)
			}
			if !slices.Contains(told, "nodes") || !slices.Contains(told, "pods") {
				t.Errorf("a person who waits was told %q", told)
			}
		})
		t.Run("everything", func(t *testing.T) { checkWorld(t, got, version, impostor) })
		t.Run("no secret", func(t *testing.T) {
			var file bytes.Buffer
			must(t, cluster.Encode(&file, got))
			if at := strings.Index(file.String(), secret); at >= 0 {
				t.Errorf("a secret is in it: …%s…", file.String()[max(0, at-100):min(file.Len(), at+100)])
			}
			read, err := cluster.Decode(&file)
			must(t, err)
			if len(read.Nodes) != len(got.Nodes) {
				t.Errorf("saved and read again it has %d nodes", len(read.Nodes))
			}
		})
		t.Run("without rights", func(t *testing.T) { checkWithoutRights(t, s) })
	})
}

// impostor listens at the address of a control plane node, with a certificate that the cluster's CA
// has not signed.
type impostor struct {
	address string
	asked   chan http.Header // of requests that reached it
}

// listenAsAPIServer listens at an address that is not loopback, because the real API server does
// not proxy to those.
func listenAsAPIServer(t *testing.T) *impostor {
	t.Helper()
	listener, err := net.Listen("tcp4", net.JoinHostPort(ownAddress(t), "0"))
	must(t, err)
	i := &impostor{address: listener.Addr().String(), asked: make(chan http.Header, 100)}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.asked <- r.Header
		switch r.URL.Path {
		case "/version":
			fmt.Fprint(w, `{"gitVersion":"v1.35.3"}`)
		case "/readyz":
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(w, "[+]ping ok\n[-]etcd failed: reason withheld\nreadyz check failed\n")
		default:
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","code":403,"reason":"Forbidden","message":"forbidden: User \"system:anonymous\" cannot get path \"/metrics\""}`)
		}
	}))
	server.Listener = listener
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)
	return i
}

// ownAddress returns an address of this machine.
func ownAddress(t *testing.T) string {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	must(t, err)
	for _, a := range addresses {
		if network, ok := a.(*net.IPNet); ok && network.IP.To4() != nil && network.IP.IsGlobalUnicast() {
			return network.IP.String()
		}
	}
	t.Skip("the machine has no address but loopback, and an API server does not proxy to that")
	return ""
}

func checkWithoutRights(t *testing.T, s *apiserver.Server) {
	t.Helper()
	observed := func(user string) (*cluster.Snapshot, error) {
		reader, err := observe.New(s.As(t, user), observe.Options{})
		must(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), checkTimeout)
		defer cancel()
		return reader.Snapshot(ctx, "")
	}
	_, err := observed("stranger")
	if err == nil || !strings.Contains(err.Error(), "cannot read the nodes") || !strings.Contains(err.Error(), `"stranger" cannot list resource "nodes"`) {
		t.Errorf("to somebody without any right it says %v", err)
	}

	s.Load(t, 1, slices.Values([]runtime.Object{
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "looker"}, Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{""}, Resources: []string{"nodes", "services"}, Verbs: []string{"list"},
		}}},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "looker"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "looker"},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "looker"}},
		},
	}))
	got, err := observed("looker")
	must(t, err)
	if len(got.Nodes) != 3 || len(got.Services) != 1 || got.Kubeadm != nil || len(got.Helm) != 0 {
		t.Errorf("it saw %d nodes, %d services, %d Helm releases and kubeadm %v", len(got.Nodes), len(got.Services), len(got.Helm), got.Kubeadm)
	}
	for part, message := range map[cluster.Part]string{
		cluster.PartPods:        "no permission to list pods in all namespaces: ",
		cluster.PartBudgets:     "no permission to list poddisruptionbudgets.policy in all namespaces: ",
		cluster.PartHelm:        "no permission to list secrets in all namespaces: ",
		cluster.PartCRDs:        "no permission to list customresourcedefinitions.apiextensions.k8s.io: ",
		cluster.PartKubeadm:     "no permission to get configmap kubeadm-config in namespace kube-system: ",
		cluster.PartReports:     "no permission to list nodereports.refit.dev: ",
		cluster.PartReleases:    "no permission to list clusterreleases.refit.dev: ",
		cluster.PartWebhooks:    "no permission to list validatingwebhookconfigurations.admissionregistration.k8s.io: ",
		cluster.PartVolumes:     "no permission to list persistentvolumes: ",
		cluster.PartActors:      "no permission to list leases.coordination.k8s.io in namespace kube-system: ",
		cluster.PartNamespaces:  "no permission to get namespace kube-system: ",
		cluster.PartAPIServices: "no permission to list apiservices.apiregistration.k8s.io: ",
	} {
		gap, found := got.Gap(part)
		if !found || gap.Kind != cluster.GapForbidden || !strings.HasPrefix(gap.Message, message) {
			t.Errorf("the gap in %s is %+v", part, gap)
		}
	}
	if _, gap := got.Gap(cluster.PartServices); gap {
		t.Error("there is a gap in the services, which could be read")
	}
	// Every user can read the version and health of an API server at its own address; its metrics
	// need permission.
	if server := got.APIServer("cp-1"); server.Version != "" {
		t.Errorf("the address of the API server of cp-1 was not known, and yet it said %+v", server)
	}
}
