// Package policy interprets a spec: its defaults, which nodes it excludes, which pool a node
// belongs to and what that pool allows, what its waivers cover, and which ClusterRelease a hop
// installs. Checks and plans must agree on these, so both use this package.
package policy
