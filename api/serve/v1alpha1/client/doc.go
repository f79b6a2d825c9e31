// Package client is a client of the HTTP API of `refit serve`, generated from api/openapi.yaml.
//
//	authorize := client.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
//		r.Header.Set("Authorization", "Bearer "+token)
//		return nil
//	})
//	refit, err := client.NewClientWithResponses("https://refit.example.com:8443", authorize)
//	...
//	checked, err := refit.CreateCheckWithResponse(ctx, &client.CreateCheckParams{Prefer: "wait=60"}, spec)
//	...
//	plan := checked.JSON200.Report.Plan.Hash
//	started, err := refit.StartOperationWithResponse(ctx, &client.StartOperationParams{IdempotencyKey: run}, client.OperationStart{Spec: spec, Plan: plan})
//
// Answers other than those of a field such as JSON200 have a Problem in ApplicationProblemJSONDefault.
package client
