package check

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/google/cel-go/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/form"
)

// The bounds of all conditions of a form together: somebody waits for the result while typing.
const (
	formBudget = checkBudget / 5
	formTime   = time.Second
)

// varValues prefixes the names of items in conditions.
const varValues = "values."

// Form are the compiled conditions of a form. It can be used by several goroutines.
type Form struct{ conditions map[string]evaluate }

// CompileForm compiles the conditions of a form, which must be valid. An error names the field.
func CompileForm(f *refitv1alpha1.ComponentForm) (*Form, error) {
	base, err := formEnvironment()
	if err != nil {
		return nil, err
	}
	c := formCompiler{base: base, out: map[string]evaluate{}}
	for g := range f.Groups {
		group := &f.Groups[g]
		at := fmt.Sprintf("groups[%d]", g)
		if err := c.add(at+".when", group.When); err != nil {
			return nil, err
		}
		for i := range group.Items {
			item := &group.Items[i]
			at := fmt.Sprintf("%s.items[%d]", at, i)
			if err := c.add(at+".when", item.When); err != nil {
				return nil, err
			}
			c.known = append(c.known, cel.Variable(varValues+item.Name, typeOf(item.Type)))
			if err := c.add(at+".valid", item.Valid); err != nil {
				return nil, err
			}
		}
	}
	return &Form{c.out}, nil
}

// VerifyForm fails if a condition does not compile, cannot be evaluated before anything is filled
// in, or does not accept the default of its item. An error names the field or the item.
func VerifyForm(ctx context.Context, f *refitv1alpha1.ComponentForm) error {
	compiled, err := CompileForm(f)
	if err != nil {
		return err
	}
	result, err := form.Evaluate(ctx, f, nil, compiled.Evaluation())
	if err != nil {
		return err
	}
	for _, p := range result.Problems {
		if p.Kind != form.Missing { // a user answers those
			return fmt.Errorf("item %s, before anything is filled in: it %s", p.Item, p.Detail)
		}
	}
	return nil
}

// formEnvironment has the functions of conditions, and no variables.
var formEnvironment = sync.OnceValues(func() (*cel.Env, error) {
	return environment.MustBaseEnvSet(language).NewExpressionsEnv(), nil
})

// formCompiler compiles conditions in their order.
type formCompiler struct {
	base  *cel.Env
	known []cel.EnvOption // the items so far
	out   map[string]evaluate
}

func (c *formCompiler) add(field, text string) error {
	if text == "" {
		return nil
	}
	env, err := c.base.Extend(c.known...)
	if err != nil {
		return fmt.Errorf("%s: %w", field, err)
	}
	if c.out[field], err = compileCondition(env, text); err != nil {
		return fmt.Errorf("%s: %w; it can refer to earlier items", field, err)
	}
	return nil
}

func typeOf(item refitv1alpha1.FormItemType) *cel.Type {
	switch item {
	case refitv1alpha1.FormSwitch:
		return cel.BoolType
	case refitv1alpha1.FormNumber: // an integer, a float or null
		return cel.DynType
	case refitv1alpha1.FormText, refitv1alpha1.FormChoice, refitv1alpha1.FormPassword:
	}
	return cel.StringType
}

// Evaluation returns the conditions for one evaluation of the form, whose cost is bounded.
func (f *Form) Evaluation() form.Conditions {
	return &formEvaluation{f.conditions, limit{formBudget, formTime}}
}

type formEvaluation struct {
	conditions map[string]evaluate
	limit
}

// Holds implements form.Conditions.
func (e *formEvaluation) Holds(ctx context.Context, field string, answers map[string]any) (bool, error) {
	eval, found := e.conditions[field]
	if !found {
		return false, fmt.Errorf("the condition %s is not compiled", field)
	}
	variables := make(map[string]any, len(answers))
	for name, answer := range answers {
		variables[varValues+name] = answer
	}
	return e.holds(ctx, eval, variables)
}
