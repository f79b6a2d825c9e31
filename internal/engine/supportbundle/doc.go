// Package supportbundle collects a support bundle with the permissions of its caller:
//
//  1. The objects of Refit, its Events, and the logs of its containers, through the API.
//  2. The journals of the hosts, through a Pod on each that runs the image of the agent, mounts the
//     journal read-only, and redacts it before it prints it. The Pods of runs that were killed are
//     deleted by the next run.
//  3. If the API server is unreachable, what this machine has, if it is a host.
//
// Everything is redacted before it is written, bounded in size and time, and listed in the index;
// so is what could not be collected.
package supportbundle
