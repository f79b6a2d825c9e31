//go:build e2e

package components

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/refit-dev/refit/test/testbed/versions"
)

// The user's objects.
const (
	leaderWorkerSets = "leaderworkersets.leaderworkerset.x-k8s.io"
	things           = "things.made.test"

	userSets   = 5
	userThings = 3
)

// createObjects creates objects of the CRDs: sets without pods, and one with a leader and a worker.
func (s *site) createObjects(t *testing.T) {
	t.Helper()
	var manifests []string
	for i := range userSets {
		replicas := 0
		if i == 0 {
			replicas = 1
		}
		manifests = append(manifests, fmt.Sprintf(`apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: set-%d, namespace: default}
spec:
  replicas: %d
  leaderWorkerTemplate:
    size: 2
    workerTemplate:
      spec:
        terminationGracePeriodSeconds: 1
        containers:
        - name: main
          image: %s
          imagePullPolicy: Never
          command: [sh, -c, 'trap "exit 0" TERM; while :; do sleep 1; done']
`, i, replicas, versions.BusyboxImage))
	}
	for i := range userThings {
		manifests = append(manifests, fmt.Sprintf("apiVersion: made.test/v1\nkind: Thing\nmetadata: {name: thing-%d, namespace: default}\nspec: {size: %d}\n", i, i))
	}
	// The webhook of LeaderWorkerSet serves once its certificate is there.
	must(t, until(t.Context(), "the user's objects to be created", checkTimeout, func(ctx context.Context) error {
		_, err := s.Kubectl(ctx, strings.NewReader(strings.Join(manifests, "---\n")), "apply", "--filename=-")
		return err
	}))
	must(t, until(t.Context(), "the set to run", checkTimeout, s.setRuns))
	s.createQueues(t)
	s.admitsJob(t, "before")
}

// setRuns returns an error unless the leader and the worker of the first set run.
func (s *site) setRuns(ctx context.Context) error {
	out, err := s.Kubectl(ctx, nil, "get", "pods", "--selector=leaderworkerset.sigs.k8s.io/name=set-0", "--output=jsonpath={.items[*].status.phase}")
	if err == nil && string(out) != "Running Running" {
		err = fmt.Errorf("its pods are %q", out)
	}
	return err
}

// object is what identifies an object and what the user wrote.
type object struct {
	Metadata struct {
		Name string `json:"name"`
		UID  string `json:"uid"`
	} `json:"metadata"`
	Spec json.RawMessage `json:"spec"`
	Data json.RawMessage `json:"data"`
}

func (o object) String() string { return o.Metadata.UID + " " + string(o.Spec) + string(o.Data) }

// objects returns all objects of a kind, by name.
func (s *site) objects(t *testing.T, kind string, flags ...string) map[string]string {
	t.Helper()
	var list struct {
		Items []object `json:"items"`
	}
	must(t, json.Unmarshal(s.kubectl(t, "", append([]string{"get", kind, "--output=json"}, flags...)...), &list))
	out := map[string]string{}
	for _, item := range list.Items {
		out[kind+"/"+item.Metadata.Name] = item.String()
	}
	return out
}

// userObjects returns the user's objects and those of the release of Flux: nothing of them may
// change, except that an upgrade of Kubernetes may set defaults in a workload.
func (s *site) userObjects(t *testing.T) map[string]string {
	t.Helper()
	out := s.objects(t, leaderWorkerSets)
	maps.Copy(out, s.objects(t, things))
	maps.Copy(out, s.queues(t))
	maps.Copy(out, s.objects(t, "configmaps", "--namespace="+fluxed, "--selector=helm.toolkit.fluxcd.io/name"))
	maps.Copy(out, s.objects(t, "deployments", "--namespace="+fluxed))
	if want := userSets + userThings + userQueues + 2 + 1; len(out) != want {
		t.Fatalf("there are %d objects, want %d: %v", len(out), want, slices.Sorted(maps.Keys(out)))
	}
	return out
}

// unchanged compares objects byte for byte.
func unchanged(before, after map[string]string) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if after[name] != before[name] {
			errs = append(errs, fmt.Errorf("%s was\n%s\nand is\n%s", name, before[name], after[name]))
		}
	}
	return errors.Join(errs...)
}
