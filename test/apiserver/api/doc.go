// Package api tests Refit's CRDs, RBAC and admission policies on real API servers: the rules,
// bounds, defaults and columns of each kind, the largest objects, and the writes that each user may
// make.
//
// Tests that need no server, such as the one that finds unbounded fields of a CRD, run with the
// unit tests.
package api
