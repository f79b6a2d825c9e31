package form

import (
	"context"
	"fmt"
	"maps"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Answers are what a user has given, by the names of items: string, int64, float64 or bool. Nil and
// the empty text are empty answers; an item that is absent has its default.
type Answers map[string]any

// Conditions evaluates the conditions of a form.
type Conditions interface {
	// Holds evaluates the condition in a field, such as groups[0].items[1].when, with the answers
	// to the items that it can refer to.
	Holds(ctx context.Context, field string, answers map[string]any) (bool, error)
}

// Problem is why an answer is not accepted.
type Problem struct {
	Kind   ProblemKind
	Item   string
	Detail string // without the answer, which may be a password
}

// ProblemKind is what is wrong.
type ProblemKind int

// The kinds of problems.
const (
	// Missing is an empty answer to a required item.
	Missing ProblemKind = iota
	// Invalid is an answer that the item does not permit.
	Invalid
	// Broken is a condition that cannot be evaluated: the publisher has to fix it.
	Broken
	// Unknown is an answer to an item that the form does not have.
	Unknown
)

// Result is a form with answers.
type Result struct {
	// Groups and Items are the names of those that are shown, in their order.
	Groups, Items []string
	// Answers are those to the items that are shown and not empty, with defaults.
	Answers Answers
	// Given are the answers of the user to the items that are shown, as they are kept.
	Given    Answers
	Problems []Problem
}

// Evaluate returns what a form shows for answers, and what is wrong with them. It fails only if the
// context ends. The form must be valid.
func Evaluate(ctx context.Context, f *refitv1alpha1.ComponentForm, answers Answers, conditions Conditions) (*Result, error) {
	e := evaluation{
		answers: answers, conditions: conditions, known: map[string]any{},
		Result: &Result{Answers: Answers{}, Given: Answers{}},
	}
	known := map[string]bool{}
	for g := range f.Groups {
		group := &f.Groups[g]
		shown := e.holds(ctx, fmt.Sprintf("groups[%d].when", g), group.When, group.Items[0].Name)
		if shown {
			e.Groups = append(e.Groups, group.Name)
		}
		for i := range group.Items {
			known[group.Items[i].Name] = true
			e.item(ctx, &group.Items[i], fmt.Sprintf("groups[%d].items[%d]", g, i), shown)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(answers)) {
		if !known[name] {
			e.problem(Unknown, name, "is not an item of the form")
		}
	}
	return e.Result, nil
}

type evaluation struct {
	*Result

	answers    Answers
	conditions Conditions
	known      map[string]any // to conditions
}

func (e *evaluation) problem(kind ProblemKind, item, detail string) {
	e.Problems = append(e.Problems, Problem{kind, item, detail})
}

// holds evaluates a condition. One that cannot be evaluated is a problem of an item, and hides
// nothing.
func (e *evaluation) holds(ctx context.Context, field, condition, item string) bool {
	if condition == "" {
		return true
	}
	held, err := e.conditions.Holds(ctx, field, e.known)
	if err != nil { // the error may quote an answer
		e.problem(Broken, item, "has a condition of the publisher that cannot be evaluated: "+field)
		return true
	}
	return held
}

func (e *evaluation) item(ctx context.Context, item *refitv1alpha1.FormItem, field string, shown bool) {
	e.known[item.Name] = empty(item)
	if !shown || !e.holds(ctx, field+".when", item.When, item.Name) {
		return
	}
	e.Items = append(e.Items, item.Name)
	answer, given := e.answers[item.Name]
	if given {
		e.Given[item.Name] = answer
	} else {
		answer = item.Default
	}
	if answer == nil || answer == "" {
		answer = empty(item)
	}
	if answer == nil || answer == "" {
		if item.Required {
			e.problem(Missing, item.Name, "is required")
		}
		return
	}
	if detail := wrongType(item, answer); detail != "" {
		e.problem(Invalid, item.Name, detail)
		return
	}
	e.known[item.Name], e.Answers[item.Name] = answer, answer
	switch detail := mismatch(item, answer); {
	case detail != "":
		e.problem(Invalid, item.Name, detail)
	case !e.holds(ctx, field+".valid", item.Valid, item.Name):
		e.problem(Invalid, item.Name, item.Message)
	}
}

// empty is what conditions know of an item without an answer.
func empty(item *refitv1alpha1.FormItem) any {
	switch item.Type {
	case refitv1alpha1.FormSwitch:
		return false
	case refitv1alpha1.FormNumber:
		return nil
	case refitv1alpha1.FormText, refitv1alpha1.FormChoice, refitv1alpha1.FormPassword:
	}
	return ""
}
