// Command kubefacts writes the data of internal/upgrade/kubefacts.
//
// The folders in _questions are small programs that import Kubernetes itself. They
// are no part of this module: they are compiled once against each release of the
// testbed's table, as that release compiles its own commands, and what they print
// is put together here.
//
//	go run ./tools/kubefacts            # write the data of all releases
//	go run ./tools/kubefacts -verify    # compare instead, and fail if it is not fresh
package main
