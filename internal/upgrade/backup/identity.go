package backup

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Prove records that the identities of recipients have decrypted a backup of a store. Those that
// are not recipients of the store do not count: the next backup is not encrypted to them. It
// returns false, and changes nothing, if none counts.
func Prove(s *refitv1alpha1.BackupStore, name string, recipients []string, now time.Time) bool {
	proven := current(s, recipients)
	if len(proven) == 0 {
		return false
	}
	if before := s.Status.Proven; before != nil {
		proven = append(proven, current(s, before.Recipients)...)
	}
	slices.Sort(proven)
	at := metav1.NewTime(now.UTC().Truncate(time.Second))
	s.Status.Proven = &refitv1alpha1.ProvenIdentity{Recipients: slices.Compact(proven), Backup: name, Time: at}
	condition := IdentityProven(s)
	condition.LastTransitionTime = at
	meta.SetStatusCondition(&s.Status.Conditions, condition)
	return true
}

// current returns those that are recipients of the store now.
func current(s *refitv1alpha1.BackupStore, recipients []string) []string {
	var out []string
	for _, recipient := range recipients {
		if slices.Contains(s.Spec.Recipients, recipient) {
			out = append(out, recipient)
		}
	}
	return out
}

// IdentityProven returns whether somebody can decrypt the next backup of a store: an identity of a
// recipient has decrypted one. The condition in its status may be about other recipients.
func IdentityProven(s *refitv1alpha1.BackupStore) metav1.Condition {
	out := metav1.Condition{Type: refitv1alpha1.ConditionIdentityProven, Status: metav1.ConditionFalse, ObservedGeneration: s.Generation}
	switch proven := s.Status.Proven; {
	case proven == nil:
		out.Reason, out.Message = refitv1alpha1.ReasonNeverDecrypted, "no identity has decrypted a backup of this BackupStore"
	case len(current(s, proven.Recipients)) == 0:
		out.Reason = refitv1alpha1.ReasonRecipientsChanged
		out.Message = fmt.Sprintf("no identity of the current recipients has decrypted a backup; the last one, %s, had other recipients", proven.Backup)
	default:
		out.Status, out.Reason = metav1.ConditionTrue, refitv1alpha1.ReasonDecrypted
		out.Message = fmt.Sprintf("an identity of a recipient has decrypted %s", proven.Backup)
	}
	return out
}
