// Package agent is the loop on a host: it takes orders, executes them step by step with a journal,
// resumes after an interruption, and reports to the cluster.
package agent
