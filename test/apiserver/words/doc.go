// Package words tests what a user and a node can write into Refit's objects, against real API
// servers: the rules and bounds of the CRDs, their defaults and columns, the sizes that an object
// can reach, and the admission policies.
//
// Tests without a server, such as that nothing in a CRD is unbounded, run with all other unit
// tests.
package words
