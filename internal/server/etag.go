package server

import (
	"fmt"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// specETag identifies the spec of an upgrade. The resourceVersion would not do: it changes with the
// progress of each node, so that no user of a running upgrade had the current one.
func specETag(u *refitv1alpha1.ClusterUpgrade) string {
	return fmt.Sprintf(`"%s.%d"`, u.UID, u.Generation)
}
