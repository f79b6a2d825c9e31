// Package object changes objects of a component while it is upgraded: it freezes resources with an
// admission policy and lifts the freeze.
package object
