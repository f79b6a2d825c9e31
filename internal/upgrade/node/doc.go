// Package node knows what is done to a host, and in which order: the step lists, which orders an agent accepts, and, from the records of a journal, what to
// do next: begin a step, finish one that was cut off, put the host back, or rest. The steps themselves are carried out elsewhere.
package node
