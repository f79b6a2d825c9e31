// Package report gathers the facts of a host for its NodeReport, without judging them. Each reader
// can fail alone; its facts are absent then.
package report
