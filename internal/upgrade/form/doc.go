// Package form has the meaning of a publisher's form: which forms are valid, which items are shown,
// which answers are valid, and the values of components that they become.
//
// The language of conditions is not part of it: the caller that evaluates a form passes Conditions.
package form
