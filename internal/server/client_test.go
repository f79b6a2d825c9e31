package server_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/refit-dev/refit/api/serve/v1alpha1/client"
)

// TestTheClientStartsAnUpgrade uses the generated client as a program of a user does.
func TestTheClientStartsAnUpgrade(t *testing.T) {
	b := newBed(t, node("cp-1"), controllers()).observing(ready).current(t)
	cookie := b.admin(t)
	refit, err := client.NewClientWithResponses(b.url, client.WithHTTPClient(b.client),
		client.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
			r.Header.Set("Cookie", "__Host-refit="+cookie)
			return nil
		}))
	must(t, err)
	spec := to("v1.36.3")
	checked, err := refit.CreateCheckWithResponse(t.Context(), &client.CreateCheckParams{Prefer: "wait=20"}, spec)
	if err != nil || checked.JSON200 == nil || checked.JSON200.Report.Blocked {
		t.Fatalf("%v: %s", err, checked.Body)
	}
	start := client.OperationStart{Spec: spec, Plan: checked.JSON200.Report.Plan.Hash}
	started, err := refit.StartOperationWithResponse(t.Context(), &client.StartOperationParams{IdempotencyKey: "run-1"}, start)
	if err != nil || started.JSON201 == nil || started.JSON201.Name != "to-v1-36-3" {
		t.Fatalf("%v: %s", err, started.Body)
	}
	again, err := refit.StartOperationWithResponse(t.Context(), &client.StartOperationParams{IdempotencyKey: "run-2"}, start)
	if err != nil || again.ApplicationProblemJSONDefault == nil || again.ApplicationProblemJSONDefault.Code != "operation-active" {
		t.Fatalf("%v: %s", err, again.Body)
	}
	b.eventually(t, "the server has read the upgrade", func() bool {
		shown, err := refit.GetOperationWithResponse(t.Context(), "to-v1-36-3", &client.GetOperationParams{})
		return err == nil && shown.JSON200 != nil && shown.JSON200.Operation.To == "v1.36.3"
	})
}
