package component

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// MaxRecipeSteps is how many steps a recipe can have: the journal of an upgrade lists them all,
// together with those that every upgrade has.
const MaxRecipeSteps = 20

// maxFreeze is the longest freeze. It blocks users and their controllers.
const maxFreeze = 2 * time.Hour

// maxSoak is the longest soak. The upgrade of the cluster waits for it.
const maxSoak = time.Hour

// defaultRecipe is the recipe of a component without one.
var defaultRecipe = []refitv1alpha1.RecipeStep{
	{CRDs: &refitv1alpha1.RecipeCRDs{}},
	{Wave: &refitv1alpha1.RecipeWave{Name: "all"}},
	{Verify: &refitv1alpha1.RecipeVerify{Ready: refitv1alpha1.VerifyAll}},
}

// Compile returns the steps of an upgrade: those that every upgrade has, and those of the recipe.
// Each error names the step of the recipe.
func Compile(recipe []refitv1alpha1.RecipeStep) ([]Step, error) {
	if len(recipe) == 0 {
		recipe = defaultRecipe
	}
	if len(recipe) > MaxRecipeSteps {
		return nil, fmt.Errorf("the recipe has %d steps, at most %d are possible", len(recipe), MaxRecipeSteps)
	}
	c := compiler{count: map[StepKind]int{}}
	for i := range recipe {
		if err := c.add(&recipe[i]); err != nil {
			return nil, fmt.Errorf("recipe[%d]: %w", i, err)
		}
	}
	if err := c.complete(); err != nil {
		return nil, fmt.Errorf("recipe: %w", err)
	}
	steps := []Step{newStep(StepCheck, string(StepCheck)), newStep(StepSave, string(StepSave))}
	steps = append(steps, c.freeze...)
	steps = append(steps, newStep(StepKeepCRDs, string(StepKeepCRDs)), newStep(StepAdopt, string(StepAdopt)))
	steps = append(steps, c.steps...)
	return append(steps, newStep(StepCommit, string(StepCommit)), newStep(StepSweep, string(StepSweep))), nil
}

type compiler struct {
	freeze []Step
	steps  []Step
	count  map[StepKind]int
	waves  []string
	rest   bool // the wave of everything else was added
}

// add adds one step of a recipe. The order that an upgrade needs is not left to the publisher: a
// freeze comes first, CRDs precede every wave, and verification is last.
func (c *compiler) add(r *refitv1alpha1.RecipeStep) error {
	kind, err := kindOf(r)
	if err != nil {
		return err
	}
	if c.count[StepVerify] > 0 {
		return errors.New("verify must be the last step")
	}
	if err := validate(r); err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	if kind == "" { // a requirement is checked with the plan, and again in the step check
		return nil
	}
	c.count[kind]++
	step := newStep(kind, string(kind))
	step.Recipe = r
	switch kind {
	case StepFreeze:
		if len(c.steps) > 0 || c.count[StepFreeze] > 1 {
			return errors.New("freeze must be the first step that changes anything, and occur once")
		}
		c.freeze = append(c.freeze, step)
		return nil
	case StepCRDs:
		if len(c.steps) > 0 {
			return errors.New("crds must precede every step but freeze, and occur once")
		}
	case StepWave:
		if err := c.addWave(r.Wave, &step); err != nil {
			return err
		}
	case StepVerify:
		step.Limit += r.Verify.Soak.Duration
	default:
		step.Name = fmt.Sprintf("%s-%d", kind, c.count[kind])
	}
	c.steps = append(c.steps, step)
	return nil
}

var waveName = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// maxWaveName lets the name of a step and of its undo fit the journal.
const maxWaveName = 20

func (c *compiler) addWave(w *refitv1alpha1.RecipeWave, step *Step) error {
	switch {
	case !waveName.MatchString(w.Name) || len(w.Name) > maxWaveName:
		return fmt.Errorf("wave %q: a name has up to %d lower case letters, digits and dashes", w.Name, maxWaveName)
	case slices.Contains(c.waves, w.Name):
		return fmt.Errorf("wave %s occurs twice", w.Name)
	case c.rest:
		return fmt.Errorf("wave %s follows the wave of everything else", w.Name)
	}
	step.Name, step.Wave = "wave-"+w.Name, len(c.waves)
	c.waves, c.rest = append(c.waves, w.Name), len(w.Objects) == 0
	return nil
}

// complete requires that everything is upgraded and verified. CRDs are upgraded even if the recipe
// does not mention them.
func (c *compiler) complete() error {
	switch {
	case !c.rest:
		return errors.New("the last wave must have no objects: it upgrades everything else")
	case c.count[StepVerify] == 0:
		return errors.New("verify is missing")
	}
	if c.count[StepCRDs] == 0 {
		c.steps = append([]Step{newStep(StepCRDs, string(StepCRDs))}, c.steps...)
	}
	return nil
}

// kindOf returns the kind of a step, empty for a requirement.
func kindOf(r *refitv1alpha1.RecipeStep) (StepKind, error) {
	var kinds []StepKind
	for _, word := range []struct {
		kind StepKind
		set  bool
	}{
		{"", r.Require != nil},
		{StepFreeze, r.Freeze != nil},
		{StepCRDs, r.CRDs != nil},
		{StepWave, r.Wave != nil},
		{StepWait, r.Wait != nil},
		{StepTouch, r.Touch != nil},
		{StepRecreate, r.Recreate != nil},
		{StepPatch, r.Patch != nil},
		{StepVerify, r.Verify != nil},
	} {
		if word.set {
			kinds = append(kinds, word.kind)
		}
	}
	if len(kinds) != 1 {
		return "", fmt.Errorf("a step has exactly one of require, freeze, crds, wave, wait, touch, recreate, patch and verify; this one has %d", len(kinds))
	}
	return kinds[0], nil
}

// validate checks the fields of a step.
func validate(r *refitv1alpha1.RecipeStep) error {
	switch {
	case r.Require != nil:
		if r.Require.Peers == nil {
			return errors.New("peers is missing")
		}
		return validateResource(r.Require.Peers.ListedBy)
	case r.Freeze != nil:
		return validateFreeze(r.Freeze)
	case r.Wait != nil:
		return validateObjects(StepWait, refitv1alpha1.RecipeObjects{Kind: r.Wait.Kind, Limit: r.Wait.Limit})
	case r.Touch != nil:
		return validateObjects(StepTouch, r.Touch.RecipeObjects)
	case r.Recreate != nil:
		return validateObjects(StepRecreate, r.Recreate.RecipeObjects)
	case r.Patch != nil:
		if err := validatePath(r.Patch.Path); err != nil {
			return err
		}
		if err := validateVariables(r.Patch.Value); err != nil {
			return err
		}
		return validateObjects(StepPatch, r.Patch.RecipeObjects)
	case r.Verify != nil:
		return validateVerify(r.Verify)
	}
	return nil
}

func validateVerify(v *refitv1alpha1.RecipeVerify) error {
	switch {
	case v.Ready != "" && v.Ready != refitv1alpha1.VerifyAll:
		return fmt.Errorf("ready %q is not %s", v.Ready, refitv1alpha1.VerifyAll)
	case v.Images != "" && v.Images != refitv1alpha1.VerifyOnlyOfRelease:
		return fmt.Errorf("images %q is not %s", v.Images, refitv1alpha1.VerifyOnlyOfRelease)
	case v.Soak.Duration < 0 || v.Soak.Duration > maxSoak:
		return fmt.Errorf("soak must be at most %s", maxSoak)
	}
	return nil
}

// validatePath refuses fields that identify an object, or that a patch does not change: the API
// server ignores those of a status.
func validatePath(path string) error {
	top, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch {
	case !strings.HasPrefix(path, "/"):
		return fmt.Errorf("path %q is not a JSON pointer", path)
	case slices.Contains([]string{"", "apiVersion", "kind", "metadata", "status"}, top):
		return fmt.Errorf("path %q is not a field of the specification", path)
	}
	return nil
}

func validateFreeze(f *refitv1alpha1.RecipeFreeze) error {
	switch {
	case f.Limit.Duration <= 0 || f.Limit.Duration > maxFreeze:
		return fmt.Errorf("limit must be between 1s and %s", maxFreeze)
	case len(f.Deny.Operations) == 0 || len(f.Deny.Resources) == 0:
		return errors.New("deny needs operations and resources")
	}
	for _, operation := range f.Deny.Operations {
		if !slices.Contains([]string{"CREATE", "UPDATE", "DELETE"}, operation) {
			return fmt.Errorf("operation %q is not CREATE, UPDATE or DELETE", operation)
		}
	}
	for _, resource := range f.Deny.Resources {
		if err := validateResource(resource); err != nil {
			return err
		}
		if _, group, _ := strings.Cut(resource, "."); slices.Contains(unfreezable, group) {
			return fmt.Errorf("%q is a resource of Kubernetes or Refit: without it, the cluster could stop or nothing could lift the freeze", resource)
		}
	}
	for _, namespace := range f.Except.ServiceAccountsIn {
		if !namespaceName.MatchString(namespace) {
			return fmt.Errorf("%q is not a namespace", namespace)
		}
	}
	return nil
}

// unfreezable are the groups whose resources nobody may freeze. Nodes and the control plane renew
// Leases, and every API server reviews tokens and permissions; whoever lifts a freeze writes a
// ComponentUpgrade.
var unfreezable = []string{
	"refit.dev",
	"admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "apps", "authentication.k8s.io", "authorization.k8s.io", "autoscaling",
	"batch", "certificates.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io", "extensions", "flowcontrol.apiserver.k8s.io",
	"imagepolicy.k8s.io", "internal.apiserver.k8s.io", "networking.k8s.io", "node.k8s.io", "policy", "rbac.authorization.k8s.io", "resource.k8s.io",
	"scheduling.k8s.io", "storage.k8s.io", "storagemigration.k8s.io",
}

var namespaceName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

var resourceName = regexp.MustCompile(`^[a-z][a-z0-9]*(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$`)

// validateResource requires a resource of a named group: a freeze of core resources could stop the
// cluster itself.
func validateResource(name string) error {
	if !resourceName.MatchString(name) || len(name) > 253 {
		return fmt.Errorf("%q is not a resource with its group, such as foreignclusters.core.liqo.io", name)
	}
	return nil
}

var kindName = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$`)

func validateObjects(step StepKind, o refitv1alpha1.RecipeObjects) error {
	most := definition(step).limit
	switch {
	case !kindName.MatchString(o.Kind) || len(o.Kind) > 253:
		return fmt.Errorf("%q is not a kind with its group, such as GatewayServer.networking.liqo.io", o.Kind)
	case o.Until != "" && o.Until != refitv1alpha1.StateReady:
		return fmt.Errorf("until %q is not Ready", o.Until)
	case o.Limit.Duration < 0 || o.Limit.Duration > most:
		return fmt.Errorf("limit must be at most %s, the timeout of the step", most)
	}
	return nil
}
