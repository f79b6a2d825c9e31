// Package report gathers what a NodeReport says of this host: facts, no verdicts. Each reader can fail alone; what it would have said is then absent.
package report
