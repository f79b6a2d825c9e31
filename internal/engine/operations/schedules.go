package operations

import (
	"context"
	"errors"
	"fmt"
	"time"
	_ "time/tzdata" // machines without a tz database know every time zone, too

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/progress"
)

var errNoSchedule = errors.New("there is no UpgradeSchedule")

// Schedules describes all UpgradeSchedules.
func (c *Cluster) Schedules(ctx context.Context) (*cliv1alpha1.Schedules, error) {
	var all refitv1alpha1.UpgradeScheduleList
	if err := c.Client.List(ctx, &all); err != nil {
		return nil, c.unreadable("UpgradeSchedules", err)
	}
	return progress.NewSchedules(c.Name, all.Items, c.Now(), time.LoadLocation), nil
}

// Schedule describes one UpgradeSchedule.
func (c *Cluster) Schedule(ctx context.Context, name string) (*cliv1alpha1.Schedule, error) {
	s, err := c.upgradeSchedule(ctx, name)
	if err != nil {
		return nil, err
	}
	return progress.NewSchedule(c.Name, s, c.Now(), time.LoadLocation), nil
}

// SuspendSchedule suspends or resumes an UpgradeSchedule.
func (c *Cluster) SuspendSchedule(ctx context.Context, name string, suspend bool) (*cliv1alpha1.ScheduleChange, error) {
	s, err := c.upgradeSchedule(ctx, name)
	if err != nil {
		return nil, err
	}
	out := progress.ScheduleVerb(c.Name, s, suspend)
	if !out.Changed {
		return out, nil
	}
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"suspend":%t}}`, suspend))
	if err := c.Client.Patch(ctx, s, patch); err != nil {
		return nil, fmt.Errorf("cannot change UpgradeSchedule %s: %w", name, err)
	}
	return out, nil
}

func (c *Cluster) upgradeSchedule(ctx context.Context, name string) (*refitv1alpha1.UpgradeSchedule, error) {
	out := &refitv1alpha1.UpgradeSchedule{}
	err := c.Client.Get(ctx, client.ObjectKey{Name: name}, out)
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("%w %s in %s: `%s schedule list` lists them", errNoSchedule, name, c.Name, c.Command)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read UpgradeSchedule %s: %w", name, err)
	}
	return out, nil
}
