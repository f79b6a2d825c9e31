package recovered

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestCallReturnsAPanicAsAnError(t *testing.T) {
	err := fmt.Errorf("cannot store: %w", Call(func() error { panic("a bug") }))
	p, is := errors.AsType[*Panic](err)
	if !is || p.Error() != "panic: a bug" || !strings.Contains(string(p.Stack), "TestCallReturnsAPanicAsAnError") {
		t.Errorf("got %v", err)
	}
	other := errors.New("no panic")
	if err := Call(func() error { return other }); !errors.Is(err, other) {
		t.Errorf("got %v", err)
	}
	if err := Call(func() error { return nil }); err != nil {
		t.Errorf("got %v", err)
	}
}
