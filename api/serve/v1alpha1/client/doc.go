// Package client is a client of the HTTP API of `refit serve`, generated from api/openapi.yaml.
//
//	authorize := client.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
//		r.Header.Set("Authorization", "Bearer "+token)
//		return nil
//	})
//	refit, err := client.NewClientWithResponses("https://refit.example.com:8443", authorize)
//	...
//	wait := &client.CreateCheckParams{Prefer: "wait=60"}
//	checked, err := refit.CreateCheckWithResponse(ctx, wait, spec)
//	...
//	once := &client.StartOperationParams{IdempotencyKey: run}
//	start := client.OperationStart{Spec: spec, Plan: checked.JSON200.Report.Plan.Hash}
//	started, err := refit.StartOperationWithResponse(ctx, once, start)
//
// Answers other than those of a field such as JSON200 have a Problem in
// ApplicationProblemJSONDefault.
package client
