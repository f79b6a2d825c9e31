// Package installation runs `refit install` and `refit uninstall` on a cluster:
//
//  1. options: what the user chose, over what is installed already
//  2. install or uninstall: apply or remove, and follow the nodes
//  3. progress: a line for each node while the user waits
//  4. documents: the result
package installation
