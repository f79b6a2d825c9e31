package clusterupgrade

import (
	"cmp"
	"regexp"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// actionFailures are the actions that fail, by operation. A new leader starts to count again.
type actionFailures struct {
	mu     sync.Mutex
	failed map[types.UID]map[action]failure
}

// failure is an action that fails. Its text is kept while only numbers in it change: a port or a
// duration would change the status on every attempt.
type failure struct {
	plan.FailedAction
	words  string
	textAt time.Time
}

// textLifetime is how long the text of a failure is kept.
const textLifetime = 5 * time.Minute

// number matches numbers, addresses and durations, but not the number in a name such as worker-1.
var number = regexp.MustCompile(`(^|[^\w-])[0-9][\w.:]*`)

type action struct {
	kind      plan.ActionKind
	node      string
	component string
}

func keyOf(a *plan.Action) action {
	if a.Component != nil {
		return action{kind: a.Kind, component: a.Component.Name}
	}
	return action{kind: a.Kind, node: a.Node}
}

// note records the result of an action.
func (f *actionFailures) note(operation types.UID, a *plan.Action, err error, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := keyOf(a)
	if err == nil {
		delete(f.failed[operation], key)
		return
	}
	if f.failed == nil {
		f.failed = map[types.UID]map[action]failure{}
	}
	if f.failed[operation] == nil {
		f.failed[operation] = map[action]failure{}
	}
	words, since := number.ReplaceAllString(err.Error(), "$1#"), now
	if before, known := f.failed[operation][key]; known {
		if before.words == words && now.Sub(before.textAt) < textLifetime {
			return
		}
		since = before.Since
	}
	f.failed[operation][key] = failure{plan.FailedAction{Kind: a.Kind, Node: a.Node, Component: key.component, Since: since, Err: err}, words, now}
}

// of returns the actions of a decision that fail, by node. It forgets those that are no longer
// decided.
func (f *actionFailures) of(operation types.UID, decided []plan.Action) []plan.FailedAction {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []plan.FailedAction
	for key, failed := range f.failed[operation] {
		if !slices.ContainsFunc(decided, func(a plan.Action) bool { return keyOf(&a) == key }) {
			delete(f.failed[operation], key)
			continue
		}
		out = append(out, failed.FailedAction)
	}
	slices.SortFunc(out, func(a, b plan.FailedAction) int {
		return cmp.Or(cmp.Compare(b.Node, a.Node), cmp.Compare(b.Component, a.Component), cmp.Compare(b.Kind, a.Kind))
	})
	return out
}
