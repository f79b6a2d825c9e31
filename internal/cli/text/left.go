package text

import (
	"fmt"
	"strings"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

// LeftAlone describes an operation whose controllers have ended: nothing further starts, and a host
// that is being changed completes.
func LeftAlone(o *cliv1alpha1.Operation) string {
	if o == nil {
		return "Nothing further starts."
	}
	sentences := []string{o.Name + " does not proceed: nothing further starts."}
	add := func(format string, does ...string) {
		var names []string
		for i := range o.Active {
			for _, d := range does {
				if o.Active[i].Activity == d {
					names = append(names, o.Active[i].Node)
				}
			}
		}
		if len(names) > 0 {
			sentences = append(sentences, fmt.Sprintf(format, phrase.Fold(names, phrase.FewNames)))
		}
	}
	add("%s: the host completes its upgrade; the node stays cordoned until you continue.",
		cliv1alpha1.ActivityUpgrade, cliv1alpha1.ActivityRollBack, cliv1alpha1.ActivityVerify)
	add("%s: partly drained, and stays cordoned until you continue.", cliv1alpha1.ActivityCordon, cliv1alpha1.ActivityDrain)
	return strings.Join(sentences, " ")
}
