package arguments_test

import (
	"testing"

	"github.com/refit-dev/refit/internal/cli/arguments"
	"github.com/refit-dev/refit/internal/cli/exit"
)

func TestArguments(t *testing.T) {
	for name, c := range map[string]struct {
		accept func([]string) error
		valid  map[int]bool // by the number of arguments
	}{
		"the name of an operation": {arguments.Operation, map[int]bool{0: true, 1: true, 2: false}},
		"an argument with it":      {arguments.WithOperation("NODE"), map[int]bool{0: false, 1: true, 2: true, 3: false}},
		"one file":                 {arguments.One("name one file"), map[int]bool{0: false, 1: true, 2: false}},
	} {
		for n, valid := range c.valid {
			err := c.accept([]string{"a", "b", "c"}[:n])
			if (err == nil) != valid || err != nil && exit.Code(t.Context(), err) != exit.Usage {
				t.Errorf("%s: %d arguments: %v", name, n, err)
			}
		}
	}
	if arguments.First(nil) != "" || arguments.First([]string{"a", "b"}) != "a" {
		t.Error("the first argument is another one")
	}
}
