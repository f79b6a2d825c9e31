// Package text renders the documents of api/cli/v1alpha1 for a terminal.
//
// A page starts with the subject and the verdict, followed by blocking findings, the order of the
// upgrade with its reasons, unknown facts, and the next commands. It stays short: a cluster of five
// thousand nodes gets the page of a small one, with lists folded into a line each, unless wide.
//
// Names and messages come from a cluster that others can write to. Only their visible characters
// reach the terminal.
package text
