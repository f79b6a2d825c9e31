package observe

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

func TestGapOf(t *testing.T) {
	secrets := schema.GroupResource{Resource: "secrets"}
	refused := &url.Error{Op: "Get", URL: "https://10.0.0.1:6443/version", Err: errors.New("connection refused")}
	for name, test := range map[string]struct {
		err     error
		kind    cluster.GapKind
		message string
	}{
		"a right is missing": {
			asked(listAll("secrets"), apierrors.NewForbidden(secrets, "", errors.New(`User "jane" cannot list resource "secrets"`))), cluster.GapForbidden,
			`you may not list secrets in all namespaces: secrets is forbidden: User "jane" cannot list resource "secrets"`,
		},
		"the credentials are not accepted": {
			asked(list("nodes"), apierrors.NewUnauthorized("token expired")), cluster.GapForbidden,
			"the server did not accept your credentials when asked to list nodes: token expired",
		},
		"an object is not there": {
			asked(getIn("configmap", "kube-system", "kubeadm-config"), apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, "kubeadm-config")),
			cluster.GapAbsent, `there is nothing to get configmap kubeadm-config in namespace kube-system: configmaps "kubeadm-config" not found`,
		},
		"Refit is not installed": {fmt.Errorf("reading: %w", errNotInstalled), cluster.GapAbsent, "reading: " + errNotInstalled.Error()},
		"nobody answers":         {asked(list("nodes"), refused), cluster.GapUnreachable, `list nodes: Get "https://10.0.0.1:6443/version": connection refused`},
		"nobody answers in time": {asked(list("nodes"), context.DeadlineExceeded), cluster.GapUnreachable, "list nodes: context deadline exceeded"},
		"the server is too busy": {
			asked(list("nodes"), apierrors.NewTooManyRequestsError("later")), cluster.GapFailed, "list nodes: Too many requests: later",
		},
		"something else": {errors.New("odd"), cluster.GapFailed, "odd"},
	} {
		t.Run(name, func(t *testing.T) {
			want := cluster.Gap{Part: cluster.PartHelm, Object: "it", Kind: test.kind, Message: test.message}
			if got := gapOf(cluster.PartHelm, "it", test.err); got != want {
				t.Errorf("the gap is %+v, want %+v", got, want)
			}
		})
	}
}

func TestListThatIsLostOnTheWayHasFailed(t *testing.T) {
	for name, lost := range map[string]error{
		"dropped":  &url.Error{Op: "Get", URL: "https://api.example.com/api/v1/pods", Err: errors.New("connection reset by peer")},
		"too slow": context.DeadlineExceeded,
	} {
		t.Run(name, func(t *testing.T) {
			g := newGathering(&Reader{}, "", &meter{})
			read := func(*gathering, context.Context) error { return asked(listAll("pods"), lost) }
			if err := g.run(t.Context(), reader{cluster.PartPods, "pods", read}); err != nil {
				t.Fatal(err)
			}
			if gap, _ := g.snapshot.Gap(cluster.PartPods); gap.Kind != cluster.GapFailed {
				t.Errorf("the gap is %+v", gap)
			}
		})
	}
}
