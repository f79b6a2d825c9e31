// Package agent is the loop on a host: it takes orders, carries them out step by step from a journal, goes on where it was cut off, and tells the cluster.
package agent
