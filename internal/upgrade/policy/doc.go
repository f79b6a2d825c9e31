// Package policy reads what a person asked for: the defaults of a spec, which nodes it leaves out, which pool a node belongs to and what that pool allows,
// what a waiver sets aside, and which Release a hop installs. Checks and plans must answer these alike, so they ask here.
package policy
