// Package requests queries the etcd and the API server of a rehearsal. It runs in a process within
// their network, because nothing else can reach them, and writes a bounded report.
package requests
