// Package backup tests backups against real stores: MinIO, a server for the API of Google Cloud
// Storage, and a directory. The servers run on the loopback interface; there is no cluster.
package backup
