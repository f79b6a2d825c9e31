// Package components upgrades the add-ons of testbed clusters together with Kubernetes: real charts
// that a user has installed with Helm, with the user's values and objects. A component that does
// not pass its verification is rolled back, and one that another tool owns is left alone.
package components
