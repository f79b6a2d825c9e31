package install

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
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
		err := until(t.Context(), "the end", time.Nanosecond, Callbacks{}, func() (bool, error) {
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
	err := until(ctx, "namespace refit-agent to be deleted", time.Nanosecond, Callbacks{}, func() (bool, error) { return false, errors.New("unexpected EOF") })
	if err == nil || !strings.Contains(err.Error(), "refit-agent") || !strings.Contains(err.Error(), "unexpected EOF") {
		t.Errorf("got %v", err)
	}
}

// One line for each change, not for each poll.
func TestAWaitReportsWhetherTheAPIServerIsReachable(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	refused, forbidden := errors.New("connection refused"), apierrors.NewForbidden(schema.GroupResource{}, "refit-agent", nil)
	var got []string
	callbacks := Callbacks{Reach: func(r Reach) {
		got = append(got, fmt.Sprint(r.Err))
		if r.Left <= 59*time.Minute || r.Left > time.Hour {
			t.Errorf("the time left is %s", r.Left)
		}
	}}
	results := []error{nil, refused, refused, nil, nil, apierrors.NewServiceUnavailable("stopping"), forbidden}
	polls := 0
	err := until(ctx, "the end", time.Nanosecond, callbacks, func() (bool, error) { polls++; return false, results[polls-1] })
	if !errors.Is(err, forbidden) || !slices.Equal(got, []string{"connection refused", "<nil>", "stopping"}) {
		t.Errorf("reported %q, %v", got, err)
	}
}

// Informers try again by themselves and return no errors.
func TestFollowReportsAnUnreachableAPIServer(t *testing.T) {
	server := httptest.NewServer(nil)
	server.Close()
	c, err := New(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	set := &unstructured.Unstructured{Object: map[string]any{"kind": kindDaemonSet, "metadata": map[string]any{"name": agentName, "namespace": AgentNamespace}}}
	reports := 0
	_, err = c.Follow(ctx, []*unstructured.Unstructured{set}, Callbacks{Reach: func(r Reach) {
		if reports++; r.Err == nil || !strings.Contains(r.Err.Error(), "connection refused") {
			t.Errorf("reported %v", r.Err)
		}
		time.AfterFunc(2*time.Second, cancel)
	}})
	if !errors.Is(err, context.Canceled) || reports != 1 {
		t.Errorf("%d reports, %v", reports, err)
	}
}
