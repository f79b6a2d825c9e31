// Package component lifts freezes of components that last longer than their limit because
// refit-components does not run.
package component
