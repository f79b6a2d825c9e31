// Command apidocs writes docs/reference/api.md from the CRDs and the constants of the API package.
//
//	go run ./tools/apidocs -crds config/crd -package api/v1alpha1 -to docs/reference/api.md
package main
