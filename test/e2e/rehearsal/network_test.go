//go:build e2e

package rehearsal

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/refit-dev/refit/test/e2e/bed"
)

// network is the network of a unit of a rehearsal at one moment.
type network struct {
	unit      string
	namespace string           // such as net:[4026531840]
	host      string           // the same of the host
	packets   map[string]int64 // sent, by interface
}

// networkUnits are the units that run for longer than a moment.
var networkUnits = []string{"refit-rehearsal-etcd", "refit-rehearsal-apiserver"}

// watchNetwork observes the network of a rehearsal until stop is called.
func (s *site) watchNetwork(ctx context.Context) (seen <-chan []network, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	out := make(chan []network, 1)
	go func() {
		var all []network
		for ctx.Err() == nil {
			for _, unit := range networkUnits {
				if found, err := s.networkOf(ctx, unit); err == nil {
					all = append(all, found)
				}
			}
			select {
			case <-ctx.Done():
			case <-time.After(bed.Pause):
			}
		}
		out <- all
	}()
	return out, cancel
}

// networkOf reads the network of a unit from its main process. It fails if the unit does not run.
func (s *site) networkOf(ctx context.Context, unit string) (network, error) {
	out, err := s.cp.Exec(ctx, "systemctl", "show", "--property=MainPID", "--value", unit)
	if err != nil {
		return network{}, err
	}
	pid := strings.TrimSpace(string(out))
	if pid == "0" || pid == "" {
		return network{}, errors.New("it does not run")
	}
	links, err := s.cp.Exec(ctx, "readlink", "/proc/"+pid+"/exe", "/proc/"+pid+"/ns/net", "/proc/1/ns/net")
	if err != nil {
		return network{}, err
	}
	devices, err := s.cp.Exec(ctx, "cat", "/proc/"+pid+"/net/dev")
	if err != nil {
		return network{}, err
	}
	names := strings.Fields(string(links))
	if len(names) != 3 || !strings.HasPrefix(names[0], "/.refit/image/") {
		return network{}, fmt.Errorf("systemd has not started it yet: %q", links)
	}
	packets, err := parseDevices(string(devices))
	return network{unit: unit, namespace: names[1], host: names[2], packets: packets}, err
}

// parseDevices returns the sent packets of each interface in /proc/net/dev.
func parseDevices(text string) (map[string]int64, error) {
	const sentPackets = 9 // the columns after the name: 8 of received data, bytes, packets
	packets := map[string]int64{}
	for line := range bed.Lines(text) {
		name, columns, found := strings.Cut(line, ":")
		if !found {
			continue // a header
		}
		fields := strings.Fields(columns)
		if len(fields) <= sentPackets {
			return nil, fmt.Errorf("a line of /proc/net/dev is %q", line)
		}
		sent, err := strconv.ParseInt(fields[sentPackets], 10, 64)
		if err != nil {
			return nil, err
		}
		packets[strings.TrimSpace(name)] = sent
	}
	return packets, nil
}

// checkNetwork requires that both servers were in a network with a loopback device alone, that the
// API server was in that of an etcd, and that it carried their packets.
func checkNetwork(seen []network) error {
	var errs []error
	servers, sent := map[string]string{}, int64(0)
	for _, n := range seen {
		servers[n.unit], sent = n.namespace, max(sent, n.packets["lo"])
		if n.namespace == n.host {
			errs = append(errs, fmt.Errorf("%s runs in the network of the host", n.unit))
		}
		if len(n.packets) != 1 {
			errs = append(errs, fmt.Errorf("%s has the interfaces %v", n.unit, n.packets))
		}
	}
	// The last etcd is that of the hop.
	if len(servers) != len(networkUnits) || servers[networkUnits[0]] != servers[networkUnits[1]] || sent == 0 {
		errs = append(errs, fmt.Errorf("%d observations of %v, %d packets", len(seen), servers, sent))
	}
	return errors.Join(errs...)
}
