// Package request validates and names an upgrade that a user requests, before there is an object in
// a cluster: the CLI and a server reject the same requests, with the same messages.
package request
