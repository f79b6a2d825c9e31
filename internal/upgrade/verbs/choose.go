package verbs

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/request"
)

// ErrNoOperation is returned if there is no operation to choose.
var ErrNoOperation = errors.New("no operation")

// Selection selects an operation.
type Selection struct {
	Name string // empty: the oldest that has not ended
	// OrNewest selects the newest operation if there is no name and all have ended.
	OrNewest bool

	Cluster, Command string // for messages
}

// Choose returns the selected operation. The operations are passed oldest first.
func (s Selection) Choose(all []refitv1alpha1.ClusterUpgrade) (*refitv1alpha1.ClusterUpgrade, error) {
	at := slices.IndexFunc(all, func(u refitv1alpha1.ClusterUpgrade) bool {
		if s.Name != "" {
			return u.Name == s.Name
		}
		return !u.HasEnded()
	})
	switch {
	case at >= 0:
		return &all[at], nil
	case s.Name != "":
		return nil, fmt.Errorf("operation %s not found; existing operations: %s", s.Name, orNone(request.Names(all)))
	case len(all) == 0:
		return nil, fmt.Errorf("%w exists in %s: start one with `%s upgrade --to VERSION`", ErrNoOperation, s.Cluster, s.Command)
	case s.OrNewest:
		return &all[len(all)-1], nil
	}
	last := &all[len(all)-1]
	return nil, fmt.Errorf("%w is in progress in %s; the last one, %s, is %s", ErrNoOperation, s.Cluster, last.Name, last.Status.Phase)
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
