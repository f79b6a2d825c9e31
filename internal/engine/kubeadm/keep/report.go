package keep

import (
	"context"
	"fmt"
	"slices"
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

// Lost requests a report of each node, and returns the settings that an upgrade would remove.
func (c *Cluster) Lost(ctx context.Context, nodes ...string) (map[string][]drift.Setting, error) {
	reports := make([]*refitv1alpha1.NodeReport, len(nodes))
	for i, node := range nodes { // all before the first wait
		var err error
		if reports[i], err = c.request(ctx, node); err != nil {
			return nil, err
		}
	}
	lost := map[string][]drift.Setting{}
	for _, report := range reports {
		if err := c.wait(ctx, report); err != nil {
			return nil, err
		}
		settings, err := settingsOf(report)
		if err != nil {
			return nil, err
		}
		lost[report.Name] = settings
	}
	return lost, nil
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
	err := wait.PollUntilContextTimeout(ctx, pollInterval, c.ReportTimeout, true, func(ctx context.Context) (bool, error) {
		err := c.Client.Get(ctx, client.ObjectKeyFromObject(report), report)
		return err == nil && report.Status.Answered >= request, err
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		return fmt.Errorf("the agent on %s did not report within %s: run `systemctl status refit-agent` on the host", report.Name, c.ReportTimeout)
	}
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
	report.Spec.Request = max(report.Spec.Request+1, c.Now().Unix()) // as controllers count
	if err := c.Client.Patch(ctx, report, before); err != nil {
		return nil, fmt.Errorf("cannot request a report of %s: %w", node, err)
	}
	return report, nil
}
