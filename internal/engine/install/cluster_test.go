package install

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestWaitsContinueWhileTheAPIServerIsBusy(t *testing.T) {
	resource := schema.GroupResource{Resource: "namespaces"}
	busy, forbidden := errors.New("TLS handshake timeout"), apierrors.NewForbidden(resource, "refit-agent", nil)
	for situation, c := range map[string]struct {
		err   error // of the first poll; the second one holds
		polls int
	}{
		"nothing responds":               {busy, 2},
		"too many requests":              {apierrors.NewTooManyRequests("busy", 1), 2},
		"the API server shuts down":      {apierrors.NewServiceUnavailable("stopping"), 2},
		"the user may not read objects":  {forbidden, 1},
		"the API server reports success": {nil, 2},
	} {
		polls := 0
		err := until(t.Context(), "the end", time.Nanosecond, func() (bool, error) {
			if polls++; polls == 1 {
				return false, c.err
			}
			return true, nil
		})
		if polls != c.polls || (err != nil) != (c.polls == 1) {
			t.Errorf("%s: %d polls, %v", situation, polls, err)
		}
	}
}

func TestAWaitThatEndsReportsTheLastError(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	err := until(ctx, "namespace refit-agent to be deleted", time.Nanosecond, func() (bool, error) { return false, errors.New("unexpected EOF") })
	if err == nil || !strings.Contains(err.Error(), "refit-agent") || !strings.Contains(err.Error(), "unexpected EOF") {
		t.Errorf("got %v", err)
	}
}
