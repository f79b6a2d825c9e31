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
	refusing := &url.Error{Op: "Get", URL: "https://10.0.0.1:6443/version", Err: errors.New("connection refused")}
	for name, test := range map[string]struct {
		err     error
		kind    cluster.GapKind
		message string
	}{
		"missing permission": {
			requestFailed(listAll("secrets"), apierrors.NewForbidden(secrets, "", errors.New(`User "jane" cannot list resource "secrets"`))), cluster.GapForbidden,
			`no permission to list secrets in all namespaces: secrets is forbidden: User "jane" cannot list resource "secrets"`,
		},
		"rejected credentials": {
			requestFailed(list("nodes"), apierrors.NewUnauthorized("token expired")), cluster.GapForbidden,
			"the server rejected the credentials to list nodes: token expired",
		},
		"missing object": {
			requestFailed(getIn("configmap", "kube-system", "kubeadm-config"), apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, "kubeadm-config")),
			cluster.GapAbsent, `cannot get configmap kubeadm-config in namespace kube-system: configmaps "kubeadm-config" not found`,
		},
		"Refit is not installed": {fmt.Errorf("cannot read: %w", errNotInstalled), cluster.GapAbsent, "cannot read: " + errNotInstalled.Error()},
		"unreachable":            {requestFailed(list("nodes"), refusing), cluster.GapUnreachable, `list nodes: Get "https://10.0.0.1:6443/version": connection refused`},
		"timeout":                {requestFailed(list("nodes"), context.DeadlineExceeded), cluster.GapUnreachable, "list nodes: context deadline exceeded"},
		"overloaded server": {
			requestFailed(list("nodes"), apierrors.NewTooManyRequestsError("later")), cluster.GapFailed, "list nodes: Too many requests: later",
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

func TestLostListHasFailed(t *testing.T) {
	for name, lost := range map[string]error{
		"dropped":  &url.Error{Op: "Get", URL: "https://api.example.com/api/v1/pods", Err: errors.New("connection reset by peer")},
		"too slow": context.DeadlineExceeded,
	} {
		t.Run(name, func(t *testing.T) {
			obs := newObservation(&Reader{}, "", &meter{})
			read := func(*observation, context.Context) error { return requestFailed(listAll("pods"), lost) }
			if err := obs.run(t.Context(), reader{cluster.PartPods, "pods", read}); err != nil {
				t.Fatal(err)
			}
			if gap, _ := obs.snapshot.Gap(cluster.PartPods); gap.Kind != cluster.GapFailed {
				t.Errorf("the gap is %+v", gap)
			}
		})
	}
}
