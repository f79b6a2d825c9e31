package upgradeschedule

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// slotOf returns the slot of a schedule, empty if all are in use. It gives the schedule one if it
// has none, or if an older schedule has the same.
func (r *Reconciler) slotOf(ctx context.Context, s *refitv1alpha1.UpgradeSchedule) (slot string, changed bool, err error) {
	var all refitv1alpha1.UpgradeScheduleList
	if err := r.Client.List(ctx, &all); err != nil {
		return "", false, fmt.Errorf("cannot list UpgradeSchedules: %w", err)
	}
	has := s.Labels[refitv1alpha1.LabelScheduleSlot]
	slot = freeSlot(all.Items, s)
	if slot == has {
		return slot, false, nil
	}
	value := strconv.Quote(slot)
	if slot == "" { // it has that of an older one, whose upgrades the admission policies would refuse
		value = "null"
	}
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"resourceVersion":%q,"labels":{%q:%s}}}`,
		s.ResourceVersion, refitv1alpha1.LabelScheduleSlot, value))
	if err := r.Client.Patch(ctx, s.DeepCopy(), patch, fieldOwner); err != nil {
		return "", false, fmt.Errorf("cannot write the slot of UpgradeSchedule %s: %w", s.Name, err)
	}
	return slot, true, nil
}

// freeSlot is the slot of a schedule, or a free one if it has none or shares it with an older
// schedule.
func freeSlot(all []refitv1alpha1.UpgradeSchedule, s *refitv1alpha1.UpgradeSchedule) string {
	used := map[string]bool{}
	own := s.Labels[refitv1alpha1.LabelScheduleSlot]
	keeps := isSlot(own)
	for i := range all {
		other := &all[i]
		if other.UID == s.UID {
			continue
		}
		used[other.Labels[refitv1alpha1.LabelScheduleSlot]] = true
		if other.Labels[refitv1alpha1.LabelScheduleSlot] == own && older(other, s) {
			keeps = false
		}
	}
	if keeps {
		return own
	}
	for i := range refitv1alpha1.ScheduleSlots {
		if slot := strconv.Itoa(i); !used[slot] {
			return slot
		}
	}
	return ""
}

func isSlot(text string) bool {
	return slices.ContainsFunc(slotNumbers(), func(n string) bool { return n == text })
}

func slotNumbers() []string {
	out := make([]string, refitv1alpha1.ScheduleSlots)
	for i := range out {
		out[i] = strconv.Itoa(i)
	}
	return out
}

func older(a, b *refitv1alpha1.UpgradeSchedule) bool {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name)) < 0
}
