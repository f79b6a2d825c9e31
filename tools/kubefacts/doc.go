// Command kubefacts writes the data of internal/upgrade/kubefacts.
//
// The directories in _queries are small commands that import Kubernetes itself. They are not part
// of this module: they are compiled against each release of the testbed, like the commands of that
// release, and their output is assembled here.
//
//	go run ./tools/kubefacts            # write the data of all releases
//	go run ./tools/kubefacts -verify    # fail if the data is not up to date
package main
