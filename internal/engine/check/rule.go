package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
	"k8s.io/apimachinery/pkg/util/version"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// The variables of rules.
const (
	varObject     = "object"
	varObjects    = "objects"
	varFrom       = "from"
	varTo         = "to"
	varKubernetes = "kubernetes"
)

// language is the version of Kubernetes whose CEL functions rules can use. It does not depend on
// the cluster, so that a rule that compiles for the publisher compiles everywhere. Later versions
// have lists.range, which allocates 10,000,000 entries at once.
var language = version.MajorMinor(1, 33)

// Versions are those of a change, which rules know.
type Versions struct {
	// From is empty for an installation.
	From, To   string
	Kubernetes string
}

// evaluate evaluates a compiled condition.
type evaluate func(ctx context.Context, variables any) (ref.Val, *cel.EvalDetails, error)

// limit is the rest of the cost and of the time that all evaluations together may take.
type limit struct {
	budget uint64
	time   time.Duration
}

// rule is a compiled rule.
type rule struct {
	eval     evaluate
	variable string // object or objects
	versions Versions
	limit
}

// Compile fails if the rule of a check is invalid. The error names the field.
func Compile(check *refitv1alpha1.ComponentCheck) error {
	_, err := compile(check, Versions{})
	return err
}

// environments returns the environments of both kinds of rules.
var environments = sync.OnceValues(func() (map[string]*cel.Env, error) {
	out := map[string]*cel.Env{}
	for variable, kind := range map[string]*cel.Type{varObject: cel.DynType, varObjects: cel.ListType(cel.DynType)} {
		set, err := environment.MustBaseEnvSet(language).Extend(environment.VersionedOptions{
			IntroducedVersion: version.MajorMinor(1, 0),
			EnvOptions: []cel.EnvOption{
				cel.Variable(variable, kind),
				cel.Variable(varFrom, cel.StringType), cel.Variable(varTo, cel.StringType), cel.Variable(varKubernetes, cel.StringType),
			},
		})
		if err != nil {
			return nil, fmt.Errorf("cannot create the environment of rules: %w", err)
		}
		out[variable] = set.NewExpressionsEnv()
	}
	return out, nil
})

func compile(check *refitv1alpha1.ComponentCheck, versions Versions) (*rule, error) {
	field, text, variable := "rule", check.Rule, varObject
	if check.ListRule != "" {
		field, text, variable = "listRule", check.ListRule, varObjects
	}
	all, err := environments()
	if err != nil {
		return nil, err
	}
	eval, err := compileCondition(all[variable], text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", field, err)
	}
	return &rule{eval: eval, variable: variable, versions: versions, limit: limit{checkBudget, maxTime}}, nil
}

// compileCondition compiles a condition, which must return a bool. Its author may be anybody, and
// nothing can stop the parser and the type checker: they get what they complete soon.
func compileCondition(env *cel.Env, text string) (evaluate, error) {
	if err := validateSource(text); err != nil {
		return nil, err
	}
	parsed, issues := env.Parse(text)
	if err := issues.Err(); err != nil {
		return nil, errors.New(oneLine(err))
	}
	if err := cmp.Or(validateNesting(parsed), validateMaps(parsed)); err != nil {
		return nil, err
	}
	ast, issues := env.Check(parsed)
	if err := issues.Err(); err != nil {
		return nil, errors.New(oneLine(err))
	}
	if !ast.OutputType().IsExactType(cel.BoolType) {
		return nil, fmt.Errorf("its result is %s, and must be bool: compare it with a value", ast.OutputType())
	}
	compiled, err := env.Program(ast, cel.InterruptCheckFrequency(celconfig.CheckFrequency), cel.CostTracking(&costs{}))
	if err != nil {
		return nil, errors.New(oneLine(err))
	}
	return compiled.ContextEval, nil
}

// evaluate evaluates the rule for an object or a list of objects.
func (r *rule) evaluate(ctx context.Context, value any) (bool, error) {
	return r.holds(ctx, r.eval, map[string]any{
		r.variable: value, varFrom: r.versions.From, varTo: r.versions.To, varKubernetes: r.versions.Kubernetes,
	})
}

// holds evaluates a condition within the limit.
func (l *limit) holds(ctx context.Context, eval evaluate, variables map[string]any) (bool, error) {
	bounded, cancel := context.WithTimeout(ctx, l.time)
	defer cancel()
	start := time.Now()
	out, details, err := eval(bounded, variables)
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if l.time -= time.Since(start); l.time <= 0 || bounded.Err() != nil {
		return false, errBudget
	}
	if stopped, ok := errors.AsType[interpreter.EvalCancelledError](err); ok && stopped.Cause == interpreter.CostLimitExceeded ||
		details == nil || details.ActualCost() == nil || *details.ActualCost() > l.budget {
		return false, errBudget
	}
	l.budget -= *details.ActualCost()
	if err != nil {
		return false, errors.New(oneLine(err))
	}
	held, ok := out.Value().(bool)
	if !ok {
		return false, fmt.Errorf("its result is %s, not bool", out.Type().TypeName())
	}
	return held, nil
}

// oneLine returns the message of an error without the excerpts of a rule that CEL adds to it.
func oneLine(err error) string {
	var lines []string
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "|") {
			lines = append(lines, strings.TrimPrefix(line, "ERROR: <input>:"))
		}
	}
	return strings.Join(lines, "; ")
}
