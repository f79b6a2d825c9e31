package text

import (
	"fmt"
	"strings"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

// LeftAlone is what happens to an operation whose controllers have ended: nothing further
// starts, and a host that is being changed completes.
func LeftAlone(o *cliv1alpha1.Operation) string {
	if o == nil {
		return "Nothing more is begun."
	}
	says := []string{o.Name + " stands still: nothing more is begun."}
	add := func(format string, does ...string) {
		var names []string
		for i := range o.Active {
			for _, d := range does {
				if o.Active[i].Does == d {
					names = append(names, o.Active[i].Node)
				}
			}
		}
		if len(names) > 0 {
			says = append(says, fmt.Sprintf(format, phrase.Fold(names, phrase.FewNames)))
		}
	}
	add("%s: the work on the host finishes by itself; the node stays cordoned until you go on.",
		cliv1alpha1.DoesChange, cliv1alpha1.DoesPutBack, cliv1alpha1.DoesSettle)
	add("%s: half emptied at most, and stays cordoned until you go on.", cliv1alpha1.DoesBegin, cliv1alpha1.DoesDrain)
	return strings.Join(says, " ")
}
