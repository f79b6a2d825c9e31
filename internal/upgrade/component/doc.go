// Package component decides how components are upgraded: which versions fit a version of
// Kubernetes, whether a component goes before or after the control plane, which values its chart
// gets, what an upgrade changes, and which step comes next.
//
// It reads charts and manifests as plain values. engine/helm renders and installs them.
package component
