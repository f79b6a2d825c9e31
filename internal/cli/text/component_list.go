package text

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/component"
)

// Components renders a line for each offer of each component, and one for a component without.
func Components(c *cliv1alpha1.Components, command string) string {
	if len(c.Components) == 0 {
		return Clean(fmt.Sprintf("There are no components in %s. A ClusterRelease that has some adds them (`%s release add VERSION --components FILE`), "+
			"if refit-components is installed (`%s install --components`).", c.Cluster, command, command)) + "\n"
	}
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "COMPONENT\tINSTALLED\tOWNER\tMANAGED BY\tRELEASE\tKUBERNETES\tOFFERED\tCREATES\tCHANGES\tDELETES\tBLOCKED BY\tUPGRADE")
	for i := range c.Components {
		s := &c.Components[i]
		offers := s.Offers
		if len(offers) == 0 {
			offers = []cliv1alpha1.ComponentOffer{{}}
		}
		last := ""
		for k := range offers {
			if row := strings.Join(componentRow(s, &offers[k]), "\t"); row != last { // several ClusterReleases can define the same removal
				fmt.Fprintln(w, row)
				last = row
			}
		}
	}
	w.Flush()
	lines := strings.Split(out.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

func componentRow(s *cliv1alpha1.ComponentState, o *cliv1alpha1.ComponentOffer) []string {
	installed := ""
	if s.Installed != nil {
		installed = s.Installed.Version
	}
	release, kubernetes, offered := o.Release, o.Kubernetes, o.Version
	if o.Action == string(refitv1alpha1.ActionRemove) { // the ClusterRelease of the offer defines it, and those without it remove it
		release, kubernetes, offered = "any without "+s.Name, "", "removal"
	}
	row := []string{s.Name, installed, s.Owner, managedBy(s), release, kubernetes, offered}
	if c := o.Changes; c != nil {
		row = append(row, fmt.Sprint(c.Create), fmt.Sprint(c.Change), fmt.Sprint(c.Delete))
	} else {
		row = append(row, "", "", "")
	}
	row = append(row, strings.Join(blockedBy(o), ","), upgradeWord(s.Upgrade))
	for i := range row {
		row[i] = dash(Clean(row[i]))
	}
	return row
}

// managedBy is who changes a component: never Refit if Flux or Argo CD would undo it.
func managedBy(s *cliv1alpha1.ComponentState) string {
	switch {
	case s.Owner == string(refitv1alpha1.OwnerFlux), s.Owner == string(refitv1alpha1.OwnerArgoCD):
		return s.Owner
	case s.Manage == string(refitv1alpha1.ManageObserve):
		return "another tool"
	}
	return s.Manage
}

// blockedBy are the reasons of the problems that block an offer.
func blockedBy(o *cliv1alpha1.ComponentOffer) (out []string) {
	for i := range o.Problems {
		if p := &o.Problems[i]; p.Blocks && !slices.Contains(out, p.Reason) {
			out = append(out, p.Reason)
		}
	}
	return out
}

// upgradeWord is the state of the last upgrade, empty if it has succeeded.
func upgradeWord(u *cliv1alpha1.ComponentProgress) string {
	switch {
	case u == nil, u.Phase == string(refitv1alpha1.ComponentSucceeded):
		return ""
	case u.Refused != "":
		return "refused"
	case u.Phase == "":
		return "ordered"
	case u.Step != "":
		return component.Words(u.Step)
	}
	return phaseWord(u.Phase)
}

func phaseWord(phase string) string {
	switch refitv1alpha1.ComponentPhase(phase) {
	case refitv1alpha1.ComponentRollingBack:
		return "rolling back"
	case refitv1alpha1.ComponentRolledBack:
		return "rolled back"
	case refitv1alpha1.ComponentIdle, refitv1alpha1.ComponentApplying, refitv1alpha1.ComponentSucceeded, refitv1alpha1.ComponentFailed:
	}
	return strings.ToLower(phase)
}
