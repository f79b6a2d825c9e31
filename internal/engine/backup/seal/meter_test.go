package seal

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// Clients of stores wrap the io.EOF of a connection that the server closes. That is no end of an
// object.
func TestAnErrorThatWrapsEOFIsNoEnd(t *testing.T) {
	closed := fmt.Errorf("the server closed the connection: %w", io.EOF)
	s := newSource(io.MultiReader(strings.NewReader("a part"), iotest.ErrReader(closed)), 100)
	s.allow(100)
	if _, err := io.ReadAll(s); !errors.Is(err, closed) || !errors.Is(s.failed, closed) {
		t.Errorf("the source returns %v, and has %v", err, s.failed)
	}
	if got, err := Measure(iotest.ErrReader(closed), 100); !errors.Is(err, closed) {
		t.Errorf("measured %+v, %v", got, err)
	}
}
