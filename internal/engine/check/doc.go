// Package check evaluates the checks of a component: CEL rules that its publisher has signed, about
// objects of the cluster.
//
//  1. Compile a rule in the CEL environment of Kubernetes. `refit release create` refuses rules
//     that do not compile.
//  2. Read the objects in pages from the API server.
//  3. Evaluate the rule for each object, or for all of them together.
//
// Rules come from a publisher, so their cost, the number of objects and the size of a list are
// bounded. A check that exceeds a bound has a problem, and never a result.
package check
