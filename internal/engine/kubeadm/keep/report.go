package keep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/drift"
)

const (
	pollInterval      = time.Second
	truncatedSettings = "drift.securitySettings" // in status.truncated
)

// Reports are what the agents of some nodes have answered.
type Reports struct {
	Lost    map[string][]drift.Setting // that an upgrade would remove, by node
	Missing map[string]error           // why there is no answer, by node
}

// Reports requests a report of each node, and waits for all of them at once.
func (c *Cluster) Reports(ctx context.Context, nodes ...string) Reports {
	out := Reports{Lost: map[string][]drift.Setting{}, Missing: map[string]error{}}
	c.Waiting(nodes, c.ReportTimeout)
	limited, cancel := context.WithTimeout(ctx, c.ReportTimeout)
	defer cancel()
	var waiting sync.WaitGroup
	var mu sync.Mutex
	for _, node := range nodes {
		waiting.Go(func() {
			settings, err := c.lost(limited, node)
			if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
				err = fmt.Errorf("the agent on %s did not report within %s", node, c.ReportTimeout)
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				out.Missing[node] = err
				return
			}
			out.Lost[node] = settings
		})
	}
	waiting.Wait()
	return out
}

func (c *Cluster) lost(ctx context.Context, node string) ([]drift.Setting, error) {
	report, err := c.request(ctx, node)
	if err != nil {
		return nil, err
	}
	if err := c.wait(ctx, report); err != nil {
		return nil, err
	}
	return settingsOf(report)
}

func settingsOf(report *refitv1alpha1.NodeReport) ([]drift.Setting, error) {
	facts := report.Status.Drift
	switch {
	case facts == nil || !facts.Known:
		return nil, fmt.Errorf("the manifests that kubeadm renders on %s are unknown: install kubeadm of the running minor version on it, "+
			"and check the log of its agent", report.Name)
	case slices.Contains(report.Status.Truncated, truncatedSettings):
		// A flag without the mount of its file would keep its component from starting.
		return nil, fmt.Errorf("%s has more security settings than its NodeReport can list: move them to the kubeadm configuration manually", report.Name)
	}
	var settings []drift.Setting
	for _, text := range facts.SecuritySettings {
		s, err := drift.ParseSetting(text)
		if err != nil {
			return nil, err
		}
		settings = append(settings, s)
	}
	return settings, nil
}

// wait waits until an agent has answered a request.
func (c *Cluster) wait(ctx context.Context, report *refitv1alpha1.NodeReport) error {
	request := report.Spec.Request
	err := wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		err := c.Client.Get(ctx, client.ObjectKeyFromObject(report), report)
		return err == nil && report.Status.Answered >= request, err
	})
	if err != nil {
		return fmt.Errorf("cannot get the NodeReport of %s: %w", report.Name, err)
	}
	return nil
}

func (c *Cluster) request(ctx context.Context, node string) (*refitv1alpha1.NodeReport, error) {
	report := &refitv1alpha1.NodeReport{}
	err := c.Client.Get(ctx, client.ObjectKey{Name: node}, report)
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("%s has no NodeReport: install the agent on it", node)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot get the NodeReport of %s: %w", node, err)
	}
	before := client.MergeFrom(report.DeepCopy())
	// A controller reads the request as the time from which on an answer is fresh.
	report.Spec.Request = max(report.Spec.Request+1, c.Now().Unix())
	if err := c.Client.Patch(ctx, report, before); err != nil {
		return nil, fmt.Errorf("cannot request a report of %s: %w", node, err)
	}
	return report, nil
}
