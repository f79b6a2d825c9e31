package cluster

import (
	"fmt"
	"os"
	"strings"
)

// Open opens a file of the running node for reading, as the node sees it. Unlike a copy, it has the
// owner, the ACL and the extended attributes of the file.
func (n *Node) Open(path string) (*os.File, error) {
	group, err := n.cgroup()
	if err != nil {
		return nil, err
	}
	pid, err := group.Init()
	if err != nil {
		return nil, fmt.Errorf("node %s: %w: it is off", n.Name(), err)
	}
	root, err := os.OpenRoot(fmt.Sprintf("/proc/%d/root", pid))
	if err != nil {
		return nil, fmt.Errorf("node %s: %w", n.Name(), err)
	}
	defer root.Close()
	file, err := root.Open(strings.TrimPrefix(path, "/"))
	if err != nil {
		return nil, fmt.Errorf("node %s: %w", n.Name(), err)
	}
	return file, nil
}
