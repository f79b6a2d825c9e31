// Package text renders the documents of api/cli/v1alpha1 for a terminal.
//
// A page reads from its top: the subject and the verdict, what blocks, what will happen in which
// order and why, what is not known yet, and the next commands. It stays short: a cluster of five
// thousand nodes gets the page of a small one, with lists folded into a line each, unless wide.
//
// Names and messages come from a cluster that others can write to. Only visible characters of them
// reach the terminal.
package text
