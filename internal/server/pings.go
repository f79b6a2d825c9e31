package server

import (
	"cmp"
	"os"
)

// pings are the settings of client-go for connections to the API server, in seconds. One that
// receives nothing is checked after three seconds, and closed two seconds later: writes would
// use that of a machine that is gone for 45 seconds otherwise. The readers have a probe, too. A
// request that an API server answers slowly continues, since it answers pings.
var pings = map[string]string{"HTTP2_READ_IDLE_TIMEOUT_SECONDS": "3", "HTTP2_PING_TIMEOUT_SECONDS": "2"}

// setPings sets them, unless the environment has others. client-go has no other way to set them
// that keeps reloading the certificates of the kubeconfig.
func setPings() error {
	for name, seconds := range pings {
		if err := os.Setenv(name, cmp.Or(os.Getenv(name), seconds)); err != nil {
			return err
		}
	}
	return nil
}
