// Package supportbundle tests support bundles on a real API server, with the permissions that the
// documentation lists. The test simulates the kubelets: they report the status of a Pod, and answer
// requests for its log.
package supportbundle
