package main

import (
	"os"
	"reflect"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/document"
	"github.com/refit-dev/refit/internal/cli/text"
)

// newTeller chooses how an operation is told of: a live view on a terminal, lines elsewhere, and JSON where that is asked for.
func newTeller(a *app, format string) teller {
	if format == formatJSON {
		return &jsonTeller{app: a}
	}
	if file, ok := a.out.(*os.File); ok {
		if _, terminal := a.terminal(a.out); terminal {
			return &liveTeller{app: a, terminal: file}
		}
	}
	return &lineTeller{app: a}
}

// jsonTeller writes a line of JSON for each change.
type jsonTeller struct {
	*app
	last cliv1alpha1.Operation
}

func (t *jsonTeller) tell(o *cliv1alpha1.Operation, _ time.Time) error {
	now := *o
	now.LeftSeconds = t.last.LeftSeconds // that it went on by a second is no change
	if reflect.DeepEqual(now, t.last) {
		return nil
	}
	t.last = *o
	line, err := document.Line(o)
	if err != nil {
		return err
	}
	return t.write(line)
}

// lineTeller writes a line for each change.
type lineTeller struct {
	*app
	last *cliv1alpha1.Operation
}

func (t *lineTeller) tell(o *cliv1alpha1.Operation, now time.Time) error {
	lines := text.OperationLines(t.last, o, now)
	t.last = o
	if lines == "" {
		return nil
	}
	return t.write([]byte(lines))
}
