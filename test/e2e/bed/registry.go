package bed

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/refit-dev/refit/test/testbed"
)

// StartRegistry starts a registry of images without TLS on an address of this machine, and returns
// its host and port. It ends with the test.
func StartRegistry(t *testing.T, host, data string) string {
	t.Helper()
	binary, err := testbed.Builder(t).Registry(context.WithoutCancel(t.Context()))
	Must(t, err)
	address := freeAddress(t, host)
	config := filepath.Join(t.TempDir(), "config.yaml")
	text := fmt.Sprintf("version: 0.1\nlog: {level: warn}\nhttp: {addr: '%s'}\nstorage: {filesystem: {rootdirectory: %s}}\n", address, data)
	Must(t, os.WriteFile(config, []byte(text), 0o644))
	startServer(t, "http://"+address+"/v2/", nil, binary, "serve", config)
	return address
}
