//go:build e2e

package components

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/refit-dev/refit/test/testbed/versions"
)

const (
	kueueNamespace = "kueue-system"
	kueueImage     = "controllerManager.manager.image.repository=registry.k8s.io/kueue/kueue,controllerManager.manager.image.pullPolicy=IfNotPresent," +
		"controllerManager.manager.image.tag="

	userQueues = 3
)

// createQueues creates the user's queues, in the only version that the old Kueue has.
func (s *site) createQueues(t *testing.T) {
	t.Helper()
	const queues = `apiVersion: kueue.x-k8s.io/v1beta1
kind: ResourceFlavor
metadata: {name: any}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: batch}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: any, resources: [{name: cpu, nominalQuota: 1}]}]
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: LocalQueue
metadata: {name: batch, namespace: default}
spec: {clusterQueue: batch}
`
	// The webhook of Kueue serves once its certificate is there.
	must(t, until(t.Context(), "the user's queues to be created", checkTimeout, func(ctx context.Context) error {
		_, err := s.Kubectl(ctx, strings.NewReader(queues), "apply", "--filename=-")
		return err
	}))
}

// queues returns the user's queues, in the version in which they were created. Kueue 0.15 renames a
// value when it stores a ClusterQueue.
func (s *site) queues(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, kind := range []string{"resourceflavors", "clusterqueues", "localqueues"} {
		for name, content := range s.objects(t, kind+".v1beta1.kueue.x-k8s.io") {
			out[name] = strings.ReplaceAll(content, `"whenCanBorrow": "Borrow"`, `"whenCanBorrow": "MayStopSearch"`)
		}
	}
	return out
}

// admitsJob fails unless Kueue admits a Job, which then runs to its end.
func (s *site) admitsJob(t *testing.T, name string) {
	t.Helper()
	job := fmt.Sprintf(`apiVersion: batch/v1
kind: Job
metadata: {name: %s, namespace: default, labels: {kueue.x-k8s.io/queue-name: batch}}
spec:
  suspend: true
  template:
    spec:
      restartPolicy: Never
      containers:
      - {name: main, image: %s, imagePullPolicy: Never, command: ["true"], resources: {requests: {cpu: 10m}}}
`, name, versions.BusyboxImage)
	must(t, until(t.Context(), "Job "+name+" to be created", checkTimeout, func(ctx context.Context) error {
		_, err := s.Kubectl(ctx, strings.NewReader(job), "create", "--filename=-")
		return err
	}))
	must(t, until(t.Context(), "Kueue to admit Job "+name, checkTimeout, func(ctx context.Context) error {
		out, err := s.Kubectl(ctx, nil, "get", "job", name, "--namespace=default", "--output=jsonpath={.status.succeeded}")
		if err == nil && string(out) != "1" {
			err = fmt.Errorf("it has succeeded %q times", out)
		}
		return err
	}))
}
