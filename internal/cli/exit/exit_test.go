package exit

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

func TestExitCodes(t *testing.T) {
	interrupted, stop := context.WithCancel(t.Context())
	stop()
	cause := errors.New("the cause")
	for situation, c := range map[string]struct {
		ctx  context.Context //nolint:containedctx // whether it has ended is what is tested
		err  error
		want int
	}{
		"success":                              {t.Context(), nil, Done},
		"success although a signal came":       {interrupted, nil, Done},
		"an error":                             {t.Context(), cause, Failed},
		"invalid input":                        {t.Context(), Usagef("--to: %w", cause), Usage},
		"invalid input, wrapped":               {t.Context(), fmt.Errorf("x.yaml: %w", UsageError{cause}), Usage},
		"a blocking finding":                   {t.Context(), fmt.Errorf("plan: %w", ErrBlocked), Blocked},
		"a blocking finding, then a signal":    {interrupted, ErrBlocked, Blocked},
		"a timeout":                            {t.Context(), fmt.Errorf("follow: %w", TimeoutError{cause}), NotYet},
		"a signal":                             {interrupted, context.Canceled, Interrupted},
		"a signal during invalid input":        {interrupted, UsageError{cause}, Interrupted},
		"the user left a running operation":    {t.Context(), LeftError{cause}, Interrupted},
		"the user left it, and it is reported": {t.Context(), fmt.Errorf("upgrade: %w", LeftError{cause}), Interrupted},
	} {
		t.Run(situation, func(t *testing.T) {
			if got := Code(c.ctx, c.err); got != c.want {
				t.Errorf("Code() = %d, want %d", got, c.want)
			}
		})
	}
}

func TestErrorsThatSelectACodeKeepTheirCause(t *testing.T) {
	cause := errors.New("the cause")
	for _, err := range []error{UsageError{cause}, TimeoutError{cause}, LeftError{cause}, Usagef("%w", cause)} {
		if !errors.Is(err, cause) || err.Error() != cause.Error() {
			t.Errorf("%T hides its cause: %v", err, err)
		}
	}
}
