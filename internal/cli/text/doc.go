// Package text writes the answers of commands for people.
//
// A page is read from its top: what it is about and the verdict, what stands in the way, what will happen and in which order, why, what is
// not known yet, and what to type next. It has as many lines as a person reads: a cluster of five thousand nodes gets the page of a small one,
// with lists folded into a line each, unless all of it is asked for.
//
// Names and messages come from a cluster that others can write to. Nothing of them reaches the terminal but characters that can be seen.
package text
