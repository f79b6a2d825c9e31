package check

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/library"
)

// checkBudget bounds the cost of all evaluations of one check. It is about a second of CPU time,
// as for the rules of a custom resource.
const checkBudget = celconfig.RuntimeCELCostBudget

// maxTime bounds the time of all evaluations of one check. Some regular expressions take longer
// than their cost promises.
const maxTime = 5 * time.Second

// errBudget is returned if an evaluation, or all of a check together, cost too much.
var errBudget = errors.New("the rule costs more than a check may")

// maxNesting bounds loops within loops and loops over the result of loops. Each can multiply the
// size of a value that contains the same value several times, which CEL does not count: comparing
// two of them could take forever.
const maxNesting = 4

// validateNesting refuses rules with more nested loops than maxNesting.
func validateNesting(rule *cel.Ast) error {
	for _, loop := range ast.MatchDescendants(ast.NavigateAST(rule.NativeRep()), ast.KindMatcher(ast.ComprehensionKind)) {
		depth := 1
		for at, ok := loop.Parent(); ok; at, ok = at.Parent() {
			if at.Kind() == ast.ComprehensionKind {
				depth++
			}
		}
		if depth > maxNesting {
			return fmt.Errorf("it has more than %d nested or chained macros such as all, exists, map and filter", maxNesting)
		}
	}
	return nil
}

// duplicating are the macros whose expansion has their target twice: a chain of them is parsed into
// two to the power of its length.
var duplicating = []string{"optMap", "optFlatMap"}

// validateSource refuses a condition that takes too long to parse.
func validateSource(text string) error {
	found := 0
	for _, macro := range duplicating {
		found += strings.Count(text, macro)
	}
	if found > maxNesting {
		return fmt.Errorf("it has more than %d nested or chained macros such as %s", maxNesting, strings.Join(duplicating, " and "))
	}
	return nil
}

// validateMaps refuses maps with computed keys. The type of a map has two types. If both are that
// of a variable, and another variable has the type of that map, the size of types grows
// exponentially, and the type checker visits all of it.
func validateMaps(parsed *cel.Ast) error {
	for _, found := range ast.MatchDescendants(ast.NavigateAST(parsed.NativeRep()), ast.KindMatcher(ast.MapKind)) {
		for _, entry := range found.AsMap().Entries() {
			if entry.AsMapEntry().Key().Kind() != ast.LiteralKind {
				return errors.New("the keys of its maps must be literals, such as 'large'")
			}
		}
	}
	return nil
}

// costs counts as the API server does, and in addition what a call adds to the size of texts and
// lists. CEL does not count it if types are not known before the evaluation, as those of objects.
type costs struct{ library.CostEstimator }

// minGrown is the size from which a value counts.
const minGrown = 100

// CallCost returns the cost of a call, nil for the default.
func (c *costs) CallCost(function, overload string, args []ref.Val, result ref.Val) *uint64 {
	cost := c.CostEstimator.CallCost(function, overload, args, result)
	size := grown(function, args, result)
	if size < minGrown {
		return cost
	}
	total := 1 + uint64(size)/10 // as a traversal of a text
	if cost != nil {
		total += *cost
	}
	return &total
}

// grown returns the size of a text that is longer than all arguments, or by how much a sum of lists
// is larger than its larger one.
func grown(function string, args []ref.Val, result ref.Val) int64 {
	if function == operators.Add && len(args) == 2 {
		if _, list := result.(traits.Lister); list {
			return min(sizeOfValue(args[0]), sizeOfValue(args[1]))
		}
	}
	size := textSize(result)
	for _, arg := range args {
		if textSize(arg) >= size {
			return 0
		}
	}
	return size
}

func sizeOfValue(value ref.Val) int64 {
	if sized, ok := value.(traits.Sizer); ok {
		if size, ok := sized.Size().(types.Int); ok {
			return int64(size)
		}
	}
	return 0
}

func textSize(value ref.Val) int64 {
	switch text := value.(type) {
	case types.String:
		return int64(len(text))
	case types.Bytes:
		return int64(len(text))
	}
	return 0
}
