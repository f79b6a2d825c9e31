// Package node decides what to do on a host: the list of steps, which orders an agent accepts, and
// the next move, given the records of a journal. It executes nothing.
package node
