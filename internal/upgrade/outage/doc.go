// Package outage decides whether an upgrade explains that no API server responds. A false claim is
// worse than none, so an outage is expected only if steps in progress restart every API server:
//
//  1. If any API server responds, there is no outage.
//  2. Observe each control plane host: by its agent, or as it was last known (host.go).
//  3. Judge each host: does its step restart the API server or etcd, did the outage start with it,
//     and is it within its timeout (judge.go)? The list of steps in package node knows what each
//     step restarts.
//  4. Conclude for all servers, and phrase it (decide.go, message.go).
package outage
